"""Draws of unknown widths, each on its own."""

import numpy as np
import pytest
from support.oracle import full

from hierbandits import TaskSums, UnknownWidths
from hierbandits.beliefs.hierarchy_draws import draw_hierarchies
from hierbandits.fitting import fit_prior


def _sums(tasks, each, widths, *, armed=True, noise=1.0, scale=1.0, seed=0):
    rng, d = np.random.default_rng(seed), len(widths)
    task = np.repeat(np.arange(tasks), each)
    theta = rng.normal(size=d) + np.array(widths) * rng.normal(size=(tasks, d))
    x = np.eye(d)[rng.integers(d, size=task.size)] if armed else rng.normal(size=(task.size, d))
    y = scale * ((x * theta[task]).sum(1) + noise * rng.normal(size=task.size))
    sums = TaskSums.zeros(tasks, d, armed=armed)
    sums.add(task, x.argmax(1) if armed else x, y)
    return sums


def _widths(hierarchies):
    return np.array([np.sqrt(np.diagonal(full(h.task_cov))) for h in hierarchies])


@pytest.mark.parametrize("armed", [True, False])
def test_draws_are_about_the_truth(armed):
    truth = np.array([0.3, 1.2, 0.6])
    sums = _sums(150, 30, truth, armed=armed, noise=0.5, scale=40.0)
    prior = UnknownWidths.of(3, armed=armed)
    drawn = draw_hierarchies(np.random.default_rng(1), prior, sums, 40)
    np.testing.assert_allclose(np.median(_widths(drawn), axis=0), 40 * truth, rtol=0.25)
    noise = np.array([h.noise_std for h in drawn])
    assert abs(noise.mean() - 20) < 1.0
    assert 0.05 < noise.std() < 1.0
    spread = np.log(_widths(drawn)).std(axis=0)
    assert (spread > 0.02).all()
    assert (spread < 0.4).all()


def test_widths_are_told_from_noise_where_tasks_have_two_rewards_each():
    wide = draw_hierarchies(
        np.random.default_rng(0), UnknownWidths.of(5, armed=True), _sums(500, 2, [1.0] * 5), 20
    )
    narrow = draw_hierarchies(
        np.random.default_rng(0), UnknownWidths.of(5, armed=True), _sums(500, 2, [0.0] * 5), 20
    )
    assert 0.6 < np.median(_widths(wide)) < 1.4
    assert np.median(_widths(narrow)) < 0.3


def test_a_noise_that_is_known_stays_and_the_seed_decides():
    prior, sums = UnknownWidths.of(3, armed=True, noise_std=0.7), _sums(10, 10, [0.5] * 3)
    one, same, other = (
        draw_hierarchies(np.random.default_rng(seed), prior, sums, 3) for seed in (1, 1, 2)
    )
    assert {h.noise_std for h in one} == {0.7}
    np.testing.assert_array_equal(_widths(one), _widths(same))
    assert not np.isclose(_widths(one), _widths(other)).any()
    assert not np.isclose(_widths(one)[0], _widths(one)[1]).any()


def test_one_width_for_all_stays_one_width():
    prior, sums = UnknownWidths.of(3, armed=True), _sums(60, 20, [0.5] * 3, scale=10.0)
    drawn = draw_hierarchies(np.random.default_rng(1), prior, sums, 40, scalar=1.0)
    widths = _widths(drawn)
    np.testing.assert_allclose(widths, widths[:, :1].repeat(3, axis=1))
    assert 4.0 < np.median(widths) < 6.0
    assert all(8.5 < hierarchy.noise_std < 11.5 for hierarchy in drawn)
    off = full(drawn[0].task_cov) - np.diag(np.diagonal(full(drawn[0].task_cov)))
    assert not off.any()
    mixed = _widths(draw_hierarchies(np.random.default_rng(1), prior, sums, 200, scalar=0.3))
    share = np.isclose(mixed[:, 0], mixed[:, 1]).mean()
    assert abs(share - 0.3) < 6 * np.sqrt(0.21 / 200)


def test_what_arms_have_of_their_own_is_found_beside_much_in_common():
    """From independent arms chains would begin twenty times too wide."""
    rng, tasks = np.random.default_rng(2), np.repeat(np.arange(40), 30)
    arms = rng.integers(3, size=tasks.size)
    sums = TaskSums.zeros(40, 3, armed=True)
    sums.add(tasks, arms, 2.0 * rng.normal(size=40)[tasks] + rng.normal(size=tasks.size))
    prior, fitted = UnknownWidths.of(3, armed=True), fit_prior(sums, structure="common").prior
    rng = np.random.default_rng(0)
    drawn = draw_hierarchies(rng, prior, sums, 30, fitted=fitted)
    step = np.array([1.0, -1.0, 0.0]) / np.sqrt(2)  # in which nothing is in common
    own = np.array([np.sqrt(step @ h.task_cov @ step) for h in drawn])
    assert np.median(own) < 0.2
    assert 0.1 < np.log(own).std() < 1.5
    assert 1.5 < np.median([np.sqrt(h.task_cov[0, 1]) for h in drawn]) < 3.0
