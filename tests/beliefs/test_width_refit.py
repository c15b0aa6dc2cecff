"""Widths fitted to sums: near the truth where much is known, and sound where nothing is."""

import numpy as np
import pytest
from support.adaptive import assert_same_hierarchy

from hierbandits import Belief, TaskSums
from hierbandits.beliefs.width_refit import (
    DRAWS,
    ENOUGH_WORK,
    FEWEST_DRAWS,
    LARGEST_SUMS,
    WARM_UP,
    WidthRefit,
    most_rewarded,
    work_of_task,
)
from hierbandits.models.unknown_widths import COMMON_ARMS, UnknownWidths

CORRELATION = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, -0.1], [0.0, -0.1, 1.0]])
STDS = np.array([0.5, 1.0, 0.3])


def _world(rng, correlation=CORRELATION, tasks=300, each=40):
    """Parameters of many tasks, features and rewards."""
    root = np.linalg.cholesky(correlation * np.outer(STDS, STDS))
    theta = np.array([1.0, -2.0, 0.5]) + rng.normal(size=(tasks, 3)) @ root.T
    rows = np.repeat(np.arange(tasks), each)
    return theta, rows, 0.8 * rng.normal(size=rows.size)


def _fitted(prior, sums, now=None):
    refit = WidthRefit(prior, sums, now)
    refit.advance()
    return refit.hierarchy()


def _assert_near(prior, correlation):
    std = np.sqrt(np.diagonal(prior.task_cov))
    np.testing.assert_allclose(std, STDS, rtol=0.15)
    np.testing.assert_allclose(prior.noise_std, 0.8, rtol=0.05)
    np.testing.assert_allclose(prior.task_cov / np.outer(std, std), correlation, atol=0.15)


@pytest.mark.parametrize("tie", [0.9, 0.0, -0.5])
def test_widths_correlations_and_the_noise_are_found(tie):
    rng = np.random.default_rng(0)
    correlation = np.array([[1.0, tie, 0.0], [tie, 1.0, -0.1], [0.0, -0.1, 1.0]])
    theta, rows, noise = _world(rng, correlation)
    x = rng.normal(size=(rows.size, 3))
    sums = TaskSums.zeros(300, 3)
    sums.add(rows, x, (x * theta[rows]).sum(1) + noise)
    _assert_near(_fitted(UnknownWidths.of(3, armed=False), sums), correlation)


def test_the_part_that_arms_have_in_common_is_found():
    rng = np.random.default_rng(1)
    theta = np.array([1.0, -2.0, 0.5]) + STDS * rng.normal(size=(300, 3))
    theta += 0.7 * rng.normal(size=(300, 1))
    rows, arms = np.repeat(np.arange(300), 40), rng.integers(0, 3, 12_000)
    sums = TaskSums.zeros(300, 3, armed=True)
    sums.add(rows, arms, 1000.0 + theta[rows, arms] + 0.8 * rng.normal(size=12_000))
    prior = _fitted(UnknownWidths.of(3, armed=True), sums)
    right = np.diag(STDS**2) + 0.7**2
    size = np.sqrt(np.outer(np.diagonal(right), np.diagonal(right)))
    np.testing.assert_allclose(prior.task_cov / size, right / size, atol=0.15)
    np.testing.assert_allclose(prior.noise_std, 0.8, rtol=0.05)
    assert np.ptp(prior.hyper_mean) == 0.0
    assert abs(prior.hyper_mean[0] - 1000.0) < 5.0


def test_arms_that_move_in_their_own_measure_are_found():
    """Two of them against the others, and one that does not move."""
    rng = np.random.default_rng(5)
    loads, arms = np.array([1.0, 0.5, 0.0, -0.5, -1.0]), rng.integers(0, 5, 12_000)
    theta = np.arange(5) + loads * rng.normal(size=(300, 1)) + 0.2 * rng.normal(size=(300, 5))
    rows = np.repeat(np.arange(300), 40)
    sums = TaskSums.zeros(300, 5, armed=True)
    sums.add(rows, arms, theta[rows, arms] + 0.5 * rng.normal(size=12_000))
    widths = UnknownWidths.of(5, armed=True)
    prior = _fitted(widths, sums)
    np.testing.assert_allclose(
        prior.task_cov, np.outer(loads, loads) + 0.2**2 * np.eye(5), atol=0.12
    )
    # Later looks begin there: a few draws are enough.
    later = WidthRefit(widths, sums, prior, draws=1)
    later.advance()
    np.testing.assert_allclose(later.last().task_cov, prior.task_cov, atol=0.25)


@pytest.mark.parametrize("arms", [20, COMMON_ARMS + 1])
def test_widths_of_many_arms_are_found(arms):
    rng = np.random.default_rng(2)
    stds = np.exp(rng.normal(size=arms) / 2)
    theta = rng.normal(size=arms) + stds * rng.normal(size=(300, arms))
    rows, played = rng.integers(0, 300, 2000 * arms), rng.integers(0, arms, 2000 * arms)
    sums = TaskSums.zeros(300, arms, armed=True)
    sums.add(rows, played, theta[rows, played] + 0.5 * rng.normal(size=rows.size))
    prior = _fitted(UnknownWidths.of(arms, armed=True), sums)
    assert prior.is_diagonal == (arms > COMMON_ARMS)
    variances = prior.task_cov if prior.is_diagonal else np.diagonal(prior.task_cov)
    np.testing.assert_allclose(np.sqrt(variances), stds, rtol=0.2)
    if not prior.is_diagonal:
        assert prior.task_cov[0, 1] < 0.1**2  # nothing in common
    np.testing.assert_allclose(prior.noise_std, 0.5, rtol=0.05)


def test_raw_features_beside_a_constant_are_as_centred_ones():
    """Means of 3, 10 and 30: the same widths in the same coordinates, and the same predictions."""
    rng = np.random.default_rng(3)
    rows = np.repeat(np.arange(200), 20)
    centred = np.column_stack([np.ones(rows.size), rng.normal(size=(rows.size, 3))])
    turn = np.eye(4)  # raw = turn @ centred
    turn[1:, 0] = [3.0, 10.0, 30.0]
    theta = np.array([5.0, 1.0, -1.0, 0.5]) + [1.0, 0.5, 0.3, 0.2] * rng.normal(size=(200, 4))
    y = (centred * theta[rows]).sum(1) + rng.normal(size=rows.size)
    widths = UnknownWidths.of(4, armed=False)
    beliefs = []
    for x in (centred, centred @ turn.T):
        sums = TaskSums.zeros(200, 4)
        sums.add(rows, x, y)
        beliefs.append((Belief.from_sums(_fitted(widths, sums), sums), x))
    (plain, x), (raw, z) = beliefs
    one, other = (belief._nodes.levels.hierarchies[0] for belief, _ in beliefs)
    back = turn.T @ other.task_cov @ turn
    scale = np.sqrt(np.outer(np.diagonal(one.task_cov), np.diagonal(one.task_cov)))
    np.testing.assert_allclose(back / scale, one.task_cov / scale, atol=0.02)
    np.testing.assert_allclose(np.sqrt(np.diagonal(one.task_cov)), [1.0, 0.5, 0.3, 0.2], rtol=0.2)
    np.testing.assert_allclose(other.noise_std, one.noise_std, rtol=0.01)
    found, right = raw.predict(rows, z), plain.predict(rows, x)
    assert np.abs(found.mean - right.mean).max() < 0.1 * right.std.mean()


def test_the_same_data_have_the_same_widths_however_the_draws_are_made():
    rng = np.random.default_rng(4)
    theta, rows, noise = _world(rng, tasks=30, each=5)
    arms = rng.integers(0, 3, rows.size)
    sums = TaskSums.zeros(30, 3, armed=True)
    sums.add(rows, arms, theta[rows, arms] + noise)
    widths = UnknownWidths.of(3, armed=True)
    at_once, in_pieces = WidthRefit(widths, sums), WidthRefit(widths, sums)
    assert at_once.advance() == WARM_UP + DRAWS
    pieces = [in_pieces.advance(5) for _ in range(21)]
    assert sum(pieces) == WARM_UP + DRAWS
    assert at_once.is_done
    assert in_pieces.is_done
    assert_same_hierarchy(in_pieces.hierarchy(), at_once.hierarchy(), rtol=0.0)


def test_many_tasks_take_fewer_draws():
    numbers = []
    for tasks in (10, 3000, 20_000):
        sums = TaskSums.zeros(tasks, 3, armed=True)
        sums.add(np.arange(tasks), np.arange(tasks) % 3, np.ones(tasks))
        refit = WidthRefit(UnknownWidths.of(3, armed=True), sums)
        numbers.append(len(refit._covs) - WARM_UP)
    assert numbers[0] == DRAWS
    assert numbers[1] == ENOUGH_WORK // (3000 * work_of_task(UnknownWidths.of(3, armed=True)))
    assert numbers[2] == FEWEST_DRAWS


def test_a_stated_noise_is_kept():
    rng = np.random.default_rng(5)
    theta, rows, noise = _world(rng, tasks=30, each=5)
    arms = rng.integers(0, 3, rows.size)
    sums = TaskSums.zeros(30, 3, armed=True)
    sums.add(rows, arms, theta[rows, arms] + noise)
    for stated in (1e-20, 0.8, 1e20):
        assert _fitted(UnknownWidths.of(3, armed=True, noise_std=stated), sums).noise_std == stated


def test_widths_that_no_hierarchy_can_have_leave_those_before():
    sums = TaskSums.zeros(2, 1, armed=True)
    sums.add([0, 1], [0, 0], [1e60, -1e60])
    widths = UnknownWidths.of(1, armed=True, noise_std=1e-20)
    first = _fitted(widths, sums)
    assert_same_hierarchy(first, widths.hierarchy(), rtol=0.0)
    now = widths.with_widths([[2.0]], [[3.0]], 1e-20)
    assert _fitted(widths, sums, now) is now
    lost = WidthRefit(UnknownWidths.of(1, armed=True), sums)
    lost.advance()
    lost._covs[-1] = np.nan
    assert_same_hierarchy(lost.hierarchy(), UnknownWidths.of(1, armed=True).hierarchy(), rtol=0.0)


def test_the_tasks_with_the_most_rewards_are_looked_at():
    rng = np.random.default_rng(6)
    sums = TaskSums.zeros(60_000, 60, armed=True)
    sums.n[:] = rng.integers(0, 5, 60_000)
    widths = UnknownWidths.of(60, armed=True)
    kept = sums.rows(most_rewarded(sums.n, widths))
    assert len(kept.n) * WidthRefit(widths, kept.rows(slice(1))).cost <= LARGEST_SUMS
    assert sorted(kept.n) == sorted(sums.n)[-len(kept.n) :]
    few = most_rewarded(sums.n[:50], widths)
    np.testing.assert_array_equal(few, np.flatnonzero(sums.n[:50] > 0))


def test_widths_that_were_far_too_narrow_are_found_again():
    """A few rewards may say that tasks are equal; draws must leave from there."""
    rng = np.random.default_rng(7)
    theta, rows, noise = _world(rng)
    x = rng.normal(size=(rows.size, 3))
    sums = TaskSums.zeros(300, 3)
    sums.add(rows, x, (x * theta[rows]).sum(1) + noise)
    widths = UnknownWidths.of(3, armed=False)
    equal = widths.with_widths(np.eye(3), 1e-14 * np.eye(3), 2.0)
    _assert_near(_fitted(widths, sums, equal), CORRELATION)
