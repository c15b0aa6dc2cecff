"""Promises: means with intervals, and what a start saves."""

import numpy as np
import pytest
from support.learn_logs import learned

from hierbandits.learning.promises import Promise, Promises
from hierbandits.learning.start_trial import NEW, OWN, PLAYERS, START


def made(ours, theirs):
    promises = (Promise(NEW, START, ours), Promise(NEW, "TS", theirs))
    return Promises(
        horizon=1, runs=ours.shape[1], num_tasks={NEW: 20}, policy="HierTS", promises=promises
    )


def test_an_interval_holds_one_more_world_as_often_as_it_says():
    rng, held = np.random.default_rng(0), []
    for _ in range(3000):
        *worlds, real = rng.gamma(2.0, 1.0, 40)
        low, high = Promise(NEW, START, np.reshape(worlds, (1, 39, 1))).interval
        held.append(low <= real <= high)
    assert abs(np.mean(held) - 0.9) < 4 * np.sqrt(0.09 / 3000)


def test_means_and_bands_are_those_of_the_worlds():
    tasks = np.random.default_rng(1).gamma(2.0, 1.0, (5, 60, 3)).cumsum(axis=0)
    promise, regret = Promise(OWN, START, tasks), tasks.mean(axis=2)
    assert promise.mean == pytest.approx(regret[-1].mean())
    mean, low, high = promise.band()
    np.testing.assert_allclose(mean, regret.mean(1))
    assert (promise.interval[0], promise.interval[1]) == (low[-1], high[-1])
    assert ((regret < low[:, None]).mean(1) < 0.07).all()
    assert ((regret > high[:, None]).mean(1) < 0.07).all()
    least, most = promise.expected
    assert promise.to_dict() == {
        "tasks": OWN, "policy": START, "mean": promise.mean,
        "mean_beside_others": mean[-1], "low": low[-1], "high": high[-1],
        "expected_low": least, "expected_high": most,
    }  # fmt: skip


@pytest.mark.parametrize("unknown", [0.05, 1.0])
def test_what_is_expected_holds_what_is_not_known_and_no_luck(unknown):
    """Worlds whose tasks have regrets about a mean that differs from world to world."""
    rng, held, halves = np.random.default_rng(2), [], []
    for _ in range(600):
        means = 5.0 + unknown * rng.standard_normal(61)
        tasks = means[:-1, None] + 3.0 * rng.standard_normal((60, 20))
        low, high = Promise(NEW, START, tasks[None]).expected
        held.append(low <= means[-1] <= high)
        halves.append((high - low) / 2)
    assert np.mean(held) > 0.9 - 4 * np.sqrt(0.09 / 600)
    if unknown == 1.0:  # where luck is little, there is no slack
        assert np.mean(held) < 0.95
    assert np.mean(halves) < 1.15 * 1.645 * np.hypot(unknown, 0.3)


def test_the_more_tasks_act_the_less_luck_is_left_in_what_is_expected():
    rng, held, shrunk = np.random.default_rng(4), [], []
    for _ in range(600):
        means = 5.0 + rng.standard_normal(61)
        tasks = means[:-1, None] + 20.0 * rng.standard_normal((60, 80))
        few = Promise(NEW, START, tasks[None, :, :20])
        many = Promise(NEW, START, tasks[None, :, :20], tasks[:, 20:])
        assert (few.beside, few.interval) == (many.beside, many.interval)
        assert few.mean == pytest.approx(few.beside)
        held.append(many.expected[0] <= means[-1] <= many.expected[1])
        shrunk.append(np.diff(many.expected) / np.diff(few.expected))
    assert np.mean(held) > 0.9 - 4 * np.sqrt(0.09 / 600)
    assert np.mean(shrunk) < 0.8


def test_the_mean_is_over_all_tasks_that_acted():
    """Where tasks differ by luck alone, four times as many leave half of the error."""
    rng, errors = np.random.default_rng(5), []
    for _ in range(400):
        tasks = rng.gamma(0.2, 5.0, (60, 80))
        promise = Promise(NEW, START, tasks[None, :, :20], tasks[:, 20:])
        assert (promise.num_tasks, promise.mean) == (80, pytest.approx(tasks.mean()))
        assert promise.beside == promise.band()[0][-1] == pytest.approx(tasks[:, :20].mean())
        errors.append([promise.mean - 1, promise.beside - 1])
    mean, beside = np.std(errors, axis=0)
    assert 0.4 < mean / beside < 0.6


def test_there_are_no_more_tasks_like_the_logs_own():
    promise = Promise(OWN, START, np.random.default_rng(3).gamma(2.0, 1.0, (1, 40, 5)))
    assert promise.expected == promise.interval
    low, high = Promise(NEW, START, promise.regret).expected
    assert promise.interval[0] < low < high < promise.interval[1]


def test_what_is_expected_of_one_world_or_task_is_what_was_seen():
    assert Promise(NEW, START, np.full((2, 1, 4), 3.0)).expected == (3.0, 3.0)
    low, high = Promise(NEW, START, np.arange(40.0).reshape(1, 40, 1)).expected
    assert (low, high) == Promise(NEW, START, np.arange(40.0).reshape(1, 40, 1)).interval


def test_the_error_of_a_saving_is_that_of_the_jackknife():
    rng = np.random.default_rng(0)
    theirs = rng.gamma(4.0, 1.0, 400)
    ours = 0.3 * theirs + rng.gamma(2.0, 0.2, 400)
    percent, error = made(ours[None, :, None], theirs[None, :, None]).saving(NEW, "TS")
    left = [np.delete(ours, i).mean() / np.delete(theirs, i).mean() for i in range(400)]
    assert percent == pytest.approx(100 * (1 - ours.mean() / theirs.mean()))
    assert error == pytest.approx(100 * np.sqrt(399 * np.var(left)), rel=0.02)
    nothing = np.zeros((1, 4, 2))
    assert made(nothing, nothing).saving(NEW, "TS") == (0.0, 0.0)


@pytest.mark.parametrize("populations", [1, 3])
def test_a_report_promises_for_all_who_play(populations):
    promises = learned(True, populations)[2].promises
    kinds = {NEW, OWN} if populations == 1 else {NEW}
    assert {(p.tasks, p.policy) for p in promises.promises} == {
        (tasks, policy) for tasks in kinds for policy in PLAYERS
    }
    assert promises.runs == 10
    assert promises.of(NEW).others.shape == (10, 60)
    assert promises.of(NEW, "TS").others is None
    frame = promises.frame()
    assert len(frame) == promises.horizon * len(promises.promises)
    last = frame.filter((frame["tasks"] == NEW) & (frame["policy"] == "TS"))["mean"][-1]
    assert last == pytest.approx(promises.of(NEW, "TS").mean, rel=1e-12)
    assert promises.to_dict()["tasks"] == dict(promises.num_tasks)


def test_a_world_without_luck_stays_where_it_is():
    """Most worlds have no regret at all, and some have much, in some of their tasks."""
    rng = np.random.default_rng(0)
    regret = np.zeros((1, 60, 20))
    regret[0, 40:] = 20 * rng.random((20, 20)) * (rng.random((20, 20)) < 0.2)
    low, high = Promise(NEW, START, regret).expected
    assert low == 0.0
    assert high < Promise(NEW, START, regret).interval[1]
