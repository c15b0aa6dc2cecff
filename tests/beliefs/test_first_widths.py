"""A first look at widths: the evidence of one width that all coordinates share."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from hierbandits import TaskSums
from hierbandits.beliefs.first_widths import RATIOS, FirstWidths


def _log(armed, seed=0, tasks=4, each=6, d=2):
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(tasks), each)
    x = np.eye(d)[rng.integers(d, size=task.size)] if armed else rng.normal(size=(task.size, d))
    theta = [1.0, -0.5] + rng.normal(size=(tasks, d)) * 0.8
    y = (x * theta[task]).sum(1) + 0.6 * rng.normal(size=task.size)
    sums = TaskSums.zeros(tasks, d, armed=armed)
    sums.add(task, x.argmax(1) if armed else x, y)
    return task, x, y, sums


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("noise", [0.6, None])
def test_weights_are_the_evidence_of_the_dense_model(armed, noise):
    task, x, y, sums = _log(armed)
    mean, wide = np.array([0.3, -0.2]), 1e3
    same = (task[:, None] == task) * 1.0
    logs, stds = [], []
    for ratio in RATIOS:
        # In units of the noise: mu of width `wide`, tasks of width `ratio`.
        unit = x @ x.T * (wide**2 + ratio**2 * same) + np.eye(y.size)
        std = noise
        if noise is None:  # the most probable one
            off = y - x @ mean
            std = np.sqrt(off @ np.linalg.solve(unit, off) / y.size)
        logs.append(multivariate_normal(x @ mean, std**2 * unit).logpdf(y))
        stds.append(std)
    first = FirstWidths.of(sums, mean, noise)
    right = np.exp(np.array(logs) - max(logs))
    np.testing.assert_allclose(first.weight, right / right.sum(), rtol=1e-4)
    np.testing.assert_allclose(first.noise_std, stds, rtol=1e-5)
    width, middle = first.middle()
    assert np.log(middle) == pytest.approx(first.weight @ np.log(stds), rel=1e-4)
    assert np.log(width / middle) == pytest.approx(first.weight @ np.log(RATIOS), rel=1e-4)


def test_draws_are_as_probable_as_their_weights():
    first = FirstWidths.of(_log(True)[3], np.zeros(2), None)
    rng = np.random.default_rng(0)
    drawn = np.array([first.drawn(rng) for _ in range(4000)])
    for ratio, weight, noise in zip(RATIOS, first.weight, first.noise_std, strict=True):
        steps = np.log2(drawn[:, 0] / drawn[:, 1] / ratio)
        there = np.abs(steps) <= 0.5
        assert abs(there.mean() - weight) < 6 * np.sqrt(0.25 / 4000)
        np.testing.assert_allclose(drawn[there, 1], noise)
        if there.sum() > 100:
            assert abs(steps[there].std() - np.sqrt(1 / 12)) < 0.05


def test_of_a_long_log_a_closer_look_leaves_few_widths():
    """Widths of a factor two from one to the next would leave one alone, and that not the right."""
    _, _, _, sums = _log(True, tasks=300, each=60)
    rng = np.random.default_rng(0)
    coarse = FirstWidths.of(sums, np.zeros(2), None)
    close = FirstWidths.closely(sums, np.zeros(2), None)
    assert coarse.weight.max() > 0.99
    assert close.weight.max() < 0.5
    drawn = np.array([close.drawn(rng) for _ in range(2000)])
    error = 1 / np.sqrt(2 * 2 * 300)  # of a width that 300 tasks show twice, and nearly no noise
    assert abs(np.log(drawn[:, 0].mean() / 0.8)) < 3 * error
    assert 0.9 * error < np.log(drawn[:, 0]).std() < 1.4 * error
    assert drawn[:, 1].mean() == pytest.approx(0.6, rel=0.02)


def test_a_closer_look_at_a_short_log_sees_the_same():
    _, _, _, sums = _log(True)
    coarse = FirstWidths.of(sums, np.zeros(2), None)
    close = FirstWidths.closely(sums, np.zeros(2), None)
    spread = [
        first.weight @ np.log(first.ratio) ** 2 - (first.weight @ np.log(first.ratio)) ** 2
        for first in (coarse, close)
    ]
    middles = [first.middle() for first in (coarse, close)]
    np.testing.assert_allclose(np.log(middles[1]), np.log(middles[0]), atol=0.15)
    assert spread[1] == pytest.approx(spread[0], rel=0.25)


def test_rewards_of_zero_have_a_noise():
    sums = TaskSums.zeros(2, 1, armed=True)
    sums.add([0, 1, 1, 0], [0, 0, 0, 0], [0.0] * 4)
    width, noise = FirstWidths.of(sums, np.zeros(1), None).middle()
    assert 0 < noise < 0.01
    assert 0 < width < 0.1
