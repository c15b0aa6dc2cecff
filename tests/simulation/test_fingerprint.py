"""Fingerprints: whatever a study computes from is in them, and nothing else."""

import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from textwrap import dedent

import numba
import numpy as np
import pytest

import hierbandits
from hierbandits import POLICIES, GaussianHierarchy, Recipe, simulate
from hierbandits.environments import ActionSets, HierarchicalBandit
from hierbandits.keyed_random import Stream
from hierbandits.models.variants import as_given
from hierbandits.policies.arms import Arms
from hierbandits.policies.greedy_rule import greedy
from hierbandits.policies.thompson_rule import Thompson, thompson
from hierbandits.simulation.fingerprint import described, fingerprint
from hierbandits.simulation.schedules import SCHEDULES, Concurrent, Custom


def _prior(width=1.0):
    return GaussianHierarchy(
        hyper_mean=np.zeros(2),
        hyper_cov=width**2 * np.eye(2),
        task_cov=0.1 * np.eye(2),
        noise_std=0.5,
    )


WORLD = HierarchicalBandit(hierarchy=_prior(), num_tasks=4, actions=ActionSets(5))
PAIRS = Concurrent(2)


def _made(source, name="made", **known):
    """What a piece of source defines, as in a notebook: no file has it."""
    names = {"np": np, **known}
    exec(dedent(source), names)
    return names[name]


def _first(shift):
    source = f"""
        def made(belief, rng, tasks, arms):
            return np.full(tasks.size, {shift})
    """
    return _made(source)


def _totals(rule, folder, schedule=PAIRS, world=WORLD):
    study = simulate(
        world,
        {"mine": Recipe(as_given, rule, "x")},
        schedule,
        runs=3,
        num_interactions=3,
        checkpoint=folder,
    )
    return study.outcomes["mine"].total


def test_a_rule_with_a_new_body_does_not_meet_old_chunks(tmp_path):
    old = _totals(_first(0), tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    new = _totals(_first(1), tmp_path)
    np.testing.assert_array_equal(new, _totals(_first(1), None))
    assert not np.array_equal(old, new)
    assert len(list(tmp_path.iterdir())) == 2
    np.testing.assert_array_equal(_totals(_first(0), tmp_path), old)
    assert len(list(tmp_path.iterdir())) == 2


class Stores:
    """An environment with its settings on the class."""

    num_tasks, prior, price = 3, _prior(), 1.0

    def worlds(self, rng, seed, first_run, runs):
        worlds = Stores()
        worlds.truth = np.zeros((runs, 2))
        worlds.luck = Stream(seed, "demand")
        return worlds

    def offer(self, events):
        return Arms.of(np.eye(2), events.run.size, 2, armed=False)

    def play(self, events, arms, choices):
        return self.luck.normals(events, 1)[:, 0], self.price * np.ones(choices.size)


def test_settings_on_an_environments_class_count(tmp_path, monkeypatch):
    assert _totals(thompson, tmp_path, world=Stores()).tolist() == [9, 9, 9]
    monkeypatch.setattr(Stores, "price", 2.0)
    assert _totals(thompson, tmp_path, world=Stores()).tolist() == [18, 18, 18]


def test_a_schedule_may_be_a_lambda(tmp_path):
    def until(end):
        return Custom(lambda rng, h: None if h.rounds == end else np.zeros((h.runs, 1), np.intp))

    three, five = (_totals(greedy, tmp_path, until(end)) for end in (3, 5))
    assert len(list(tmp_path.iterdir())) == 2
    assert not np.array_equal(three, five)
    np.testing.assert_array_equal(_totals(greedy, tmp_path, until(3)), three)
    assert len(list(tmp_path.iterdir())) == 2


@dataclass
class Fields:
    a: object = None


class Attributes:
    shared = 1

    @property
    def one(self):
        return 1

    @cached_property
    def two(self):
        return 2

    @staticmethod
    def three():
        return 3

    @classmethod
    def four(cls):
        return Attributes


@numba.njit
def compiled(x):
    return x + 1


@lru_cache
def remembered(x):
    return x + 1


def _returns(value):
    return lambda: value


def _default(value):
    def made(x=value, *, y=value):
        return x, y

    return made


DIFFERENT = {
    "numbers": (1, 1.0),
    "arrays": (np.arange(3), np.arange(4)),
    "shapes": (np.zeros((2, 3)), np.zeros((3, 2))),
    "objects in arrays": (np.array([1, "a"], object), np.array([1, "b"], object)),
    "hierarchies": (_prior(1), _prior(2)),
    "fields": (Fields(np.arange(3)), Fields(np.arange(4))),
    "attributes": (Attributes(), Fields()),
    "sets": ({1, 2}, {1, 3}),
    "closures": (_returns(1), _returns(2)),
    "defaults": (_default(1), _default(2)),
    "partials": (partial(int, base=2), partial(int, base=3)),
    "rules": (Thompson(fresh=True), Thompson(fresh=False)),
    "package functions": (thompson, greedy),
    "lambdas of one line": (lambda: 1, lambda: 2),
    "compiled": (compiled, numba.njit(lambda x: x + 2)),
    "cached": (remembered, lru_cache(lambda x: x + 2)),
    "ufuncs": (np.add, np.subtract),
    "methods": (Attributes().one.__add__, Attributes.three),
    "globals": (
        _made("def made(): return K", K=np.arange(3)),
        _made("def made(): return K", K=np.arange(4)),
    ),
    "globals of globals": (
        _made("def help(): return 1\ndef made(): return help()"),
        _made("def help(): return 2\ndef made(): return help()"),
    ),
    "inner functions": (
        _made("def made(): return [lambda: K]", K=1),
        _made("def made(): return [lambda: K]", K=2),
    ),
    "classes": (
        _made("class made:\n def f(self): return 1")(),
        _made("class made:\n def f(self): return 2")(),
    ),
    "properties": (
        _made("class made:\n @property\n def f(self): return 1")(),
        _made("class made:\n @property\n def f(self): return 2")(),
    ),
    "bases": (
        _made("class A:\n k = 1\nclass made(A): pass")(),
        _made("class A:\n k = 2\nclass made(A): pass")(),
    ),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_what_differs_has_another_fingerprint(case):
    one, other = DIFFERENT[case]
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(one) != fingerprint(other)


def test_equal_things_have_one_fingerprint_however_they_were_made():
    row = [1, 2]
    assert fingerprint([row, row]) == fingerprint([[1, 2], [1, 2]])
    assert fingerprint(_prior()) == fingerprint(_prior())
    assert fingerprint({"x", "yy", "z"}) == fingerprint({"z", "yy", "x"})
    assert fingerprint(_first(1)) == fingerprint(_first(1))
    assert fingerprint(_returns(3)) == fingerprint(_returns(3))


def test_cycles_end():
    loop = Fields()
    loop.a = [loop]
    assert fingerprint(loop) == fingerprint(loop)
    assert "met" in repr(described(Attributes()))  # a method that names its own class


def test_another_process_finds_the_same():
    code = (
        "from hierbandits import POLICIES, schedules;"
        "from hierbandits.simulation.fingerprint import fingerprint;"
        "print(fingerprint((POLICIES, schedules.SCHEDULES)))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in "12"
    }
    assert outputs == {fingerprint((POLICIES, SCHEDULES))}


def test_the_packages_version_is_part_of_it(monkeypatch):
    before = fingerprint(1)
    monkeypatch.setattr(hierbandits, "__version__", "0.0.0")
    assert fingerprint(1) != before


def test_what_has_no_fingerprint_is_named(tmp_path):
    lock = threading.Lock()

    def rule(belief, rng, tasks, arms):
        with lock:
            return np.zeros(tasks.size, np.intp)

    with pytest.raises(ValueError, match=r"checkpoint must be None .* got <unlocked _thread.lock"):
        _totals(rule, tmp_path)
    np.testing.assert_array_equal(_totals(rule, None), _totals(_first(0), None))
