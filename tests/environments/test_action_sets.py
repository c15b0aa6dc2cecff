"""Action sets: uniform in their shape or rows of a table, and the same for whoever asks."""

import numpy as np
import pytest
from support.environments import ARMED, LINEAR

from hierbandits import GaussianHierarchy, simulate
from hierbandits.environments import (
    ActionSets,
    DigitBandit,
    HierarchicalBandit,
    KnownBandit,
    SampledActions,
)
from hierbandits.environments.events import Events
from hierbandits.keyed_random import Stream
from hierbandits.simulation.schedules import Federated


def test_action_sets_fill_their_shape():
    box = ActionSets(50, "box", 0.5).fixed_sets(np.random.default_rng(0), 40, 1, 3)
    assert box.shape == (40, 50, 3)
    assert 0.49 < np.abs(box).max() <= 0.5
    ball = ActionSets(50, "ball", 2.0).fixed_sets(np.random.default_rng(0), 40, 1, 3)
    norms = np.linalg.norm(ball, axis=2)
    assert 1.9 < norms.max() <= 2.0
    assert (norms < 1.0).mean() == pytest.approx(1 / 8, abs=0.04)  # uniform in the volume
    events = Events(np.arange(20_000), np.zeros(20_000, int), np.zeros(20_000, int))
    fresh = ActionSets(2, "ball", 2.0, "round").fresh_sets(Stream(0, "x"), events, 3).table
    assert np.linalg.norm(fresh, axis=1).max() <= 2.0
    exact = 4 / 5 * np.eye(3)  # of the uniform law in a ball of radius 2 in three dimensions
    np.testing.assert_allclose(np.cov(fresh.T), exact, atol=6 / np.sqrt(len(fresh)))
    pairs = fresh.reshape(-1, 6)
    np.testing.assert_allclose(np.cov(pairs.T)[:3, 3:], 0.0, atol=6 / np.sqrt(len(pairs)))
    radii, cosines = np.linalg.norm(fresh, axis=1), np.abs(fresh[:, 0])
    cosines = cosines / radii
    assert abs(np.corrcoef(radii, cosines)[0, 1]) < 6 / np.sqrt(len(fresh))
    assert ActionSets(5, "box", 0.5).max_norm(4) == 1.0
    assert ActionSets(5, "ball", 2.0).max_norm(4) == 2.0


@pytest.mark.parametrize("shape", ["box", "ball"])
def test_fixed_and_fresh_sets_have_one_law(shape):
    """The mean of |x_1| over many arms, drawn in both ways."""
    events = Events(np.arange(10_000), np.zeros(10_000, int), np.zeros(10_000, int))
    actions = ActionSets(3, shape, 2.0)
    fixed = actions.fixed_sets(np.random.default_rng(0), 10_000, 1, 2)
    fresh = actions.fresh_sets(Stream(0, "x"), events, 2).table
    first, second = np.abs(fixed.reshape(-1, 2)[:, 0]), np.abs(fresh[:, 0])
    exact = 1.0 if shape == "box" else 8 / (3 * np.pi)  # of the disk of radius 2
    for values in (first, second):
        assert abs(values.mean() - exact) < 6 * values.std() / np.sqrt(values.size)


@pytest.mark.parametrize(("per", "sets"), [("run", 7), ("task", 21)])
def test_a_set_serves_a_run_or_a_task(per, sets):
    table = np.random.default_rng(0).standard_normal((20, 2))
    for actions in (ActionSets(4, per=per), SampledActions(table, 4, per)):
        drawn = actions.fixed_sets(np.random.default_rng(1), 7, 3, 2)
        assert drawn.shape == (sets, 4, 2)
        assert len({own.tobytes() for own in drawn}) == sets


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": "cube"}, "shape must be one of box, ball, got 'cube'"),
        ({"per": "day"}, "per must be one of run, task, round, got 'day'"),
        ({"num_arms": 0}, "num_arms must be a whole number of at least 1, got 0"),
        ({"size": 0.0}, "size must be positive"),
    ],
)
def test_bad_action_sets_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ActionSets(**options)


@pytest.mark.parametrize("per", ["run", "task", "round"])
def test_sampled_actions_are_rows_of_their_table(per):
    table = np.random.default_rng(0).standard_normal((20, 3))
    actions = SampledActions(table, num_arms=4, per=per)
    if per == "round":
        events = Events(np.array([0, 0, 5]), np.array([0, 1, 0]), np.array([2, 2, 2]))
        arms = actions.fresh_sets(Stream(1, "actions"), events, 3)
        last = Events(*(part[2:] for part in (events.run, events.task, events.interaction)))
        again = actions.fresh_sets(Stream(1, "actions"), last, 3)
        np.testing.assert_array_equal(again.rows_of(0), arms.rows_of(2))  # whoever else asks
        sets = np.array([table[arms.rows_of(e)] for e in range(3)])
        assert not np.array_equal(sets[0], sets[1])
    else:
        sets = actions.fixed_sets(np.random.default_rng(1), 50, 6, 3)
        assert sets.shape == ((50 if per == "run" else 300), 4, 3)
    known = {row.tobytes() for row in table}
    assert {row.tobytes() for row in sets.reshape(-1, 3)} <= known
    assert actions.max_norm(3) == pytest.approx(np.linalg.norm(table, axis=1).max())
    prior = GaussianHierarchy(
        hyper_mean=np.zeros(3), hyper_cov=np.eye(3), task_cov=np.eye(3), noise_std=1.0
    )
    world = HierarchicalBandit(hierarchy=prior, num_tasks=6, actions=actions)
    study = simulate(world, ["OracleTS", "TS"], Federated(), 100, num_interactions=10)
    difference, error = study.difference("TS", "OracleTS")
    assert difference > 4 * error


def test_all_rows_of_the_table_are_equally_likely():
    table = np.arange(5.0)[:, None]
    events = Events(np.arange(20_000), np.zeros(20_000, int), np.zeros(20_000, int))
    fresh = SampledActions(table, 1).fresh_sets(Stream(0, "x"), events, 1)
    fixed = SampledActions(table, 1, "run").fixed_sets(np.random.default_rng(0), 20_000, 1, 1)
    for rows in (fresh.flat_rows(), fixed.ravel().astype(int)):
        shares = np.bincount(rows, minlength=5) / rows.size
        np.testing.assert_allclose(shares, 0.2, atol=6 * np.sqrt(0.16 / rows.size))


@pytest.mark.parametrize(
    ("table", "more", "message"),
    [
        ([1.0], {}, "table must have shape"),
        (np.empty((0, 2)), {}, "table must have at least one row"),
        ([[1.0]], {"per": "day"}, "per must be one of run, task, round, got 'day'"),
        ([[1.0]], {"num_arms": 0}, "num_arms must be a whole number of at least 1"),
    ],
)
def test_bad_sampled_actions_are_refused(table, more, message):
    with pytest.raises(ValueError, match=message):
        SampledActions(table, **more)


def test_environments_keep_copies_of_what_they_are_given():
    table, means, hyper = np.ones((3, 2)), np.full((2, 4), 0.5), np.zeros(4)
    actions = SampledActions(table)
    known = KnownBandit(means=means, prior=ARMED)
    drawn = HierarchicalBandit(hierarchy=ARMED, num_tasks=2, hyper=hyper)
    digits = DigitBandit(
        prior=LINEAR, hyper=table[0], features=table, mean_rewards=table[:, 0], subsample=2
    )
    kept = [actions.table, known.means, drawn.hyper, digits.features, digits.mean_rewards]
    before = [array.copy() for array in (*kept, digits.hyper)]
    for given in (table, means, hyper):
        given[:] = 7.0
    for array, expected in zip((*kept, digits.hyper), before, strict=True):
        np.testing.assert_array_equal(array, expected)
