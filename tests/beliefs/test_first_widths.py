"""A first look at widths, from which draws begin."""

import numpy as np
import pytest
from support.adaptive import FORMS

from hierbandits import Belief, GaussianHierarchy, TaskSums
from hierbandits.beliefs.first_widths import RATIOS, FirstWidths


def _sums(rng, armed, width, tasks=100, each=20):
    theta = np.array([0.5, -1.0]) + width * rng.normal(size=(tasks, 2))
    rows = np.repeat(np.arange(tasks), each)
    x = rng.integers(0, 2, rows.size) if armed else rng.normal(size=(rows.size, 2))
    mean = theta[rows, x] if armed else (x * theta[rows]).sum(1)
    sums = TaskSums.zeros(tasks, 2, armed=armed)
    sums.add(rows, x, mean + 0.5 * rng.normal(size=rows.size))
    return sums


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("width", [0.1, 1.0])
def test_the_middle_is_near_the_truth(armed, width):
    first = FirstWidths.of(_sums(np.random.default_rng(0), armed, width), np.zeros(2), None)
    found, noise = first.middle()
    np.testing.assert_allclose(noise, 0.5, rtol=0.05)
    assert 0.6 * width < found < 1.6 * width  # the ratios are powers of two
    drawn = [first.drawn(np.random.default_rng(seed)) for seed in range(200)]
    widths, noises = np.array(drawn).T
    np.testing.assert_allclose(np.log2(widths / noises), np.round(np.log2(widths / noises)))
    shares = [(np.abs(widths / noises - ratio) < 1e-9).mean() for ratio in RATIOS]
    np.testing.assert_allclose(shares, first.weight, atol=0.15)


def test_weights_are_the_evidence_if_the_noise_is_known():
    sums = _sums(np.random.default_rng(1), True, 0.3, tasks=5, each=4)
    first = FirstWidths.of(sums, np.zeros(2), 0.5)
    logs = []
    for ratio in RATIOS:
        prior = GaussianHierarchy.armed(2, hyper_std=0.5e3, task_std=0.5 * ratio, noise_std=0.5)
        logs.append(Belief.from_sums(prior, sums).log_evidence()[0])
    weights = np.exp(np.array(logs) - max(logs))
    np.testing.assert_allclose(first.weight, weights / weights.sum(), rtol=1e-6)
    np.testing.assert_array_equal(first.noise_std, 0.5)


def test_rewards_of_zero_have_a_noise():
    sums = TaskSums.zeros(2, 1, armed=True)
    sums.add([0, 1, 1, 0], [0, 0, 0, 0], [0.0] * 4)
    width, noise = FirstWidths.of(sums, np.zeros(1), None).middle()
    assert 0 < noise < 0.01
    assert 0 < width < 0.1
