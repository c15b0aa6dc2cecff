"""The draws that both forms share, each against its own distribution."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, invgamma, kstest

from hierbandits.kernels.width_conditionals import (
    CENTRE,
    LARGEST_SCALE,
    LEAST_SCALE,
    draw_hyper,
    drawn_scale,
    log_density,
    sliced,
)


@pytest.mark.parametrize("total", [1e-9, 3e-7, 1e-3, 1.0, 20.0])
@pytest.mark.parametrize("dim", [1, 2, 16])
def test_the_common_scale_is_gamma_within_its_bounds(dim, total):
    rng = np.random.default_rng(dim)
    drawn = np.array([drawn_scale(rng, dim, total) for _ in range(4000)])
    least, most = 1 / LARGEST_SCALE**2, 1 / LEAST_SCALE**2
    law = gamma(dim / 2, scale=1 / total)
    low, high = law.cdf([least, most])
    assert high > low
    assert kstest(drawn, lambda s: (law.cdf(s) - low) / (high - low)).pvalue > 1e-4


def test_a_scale_that_bounds_leave_no_room_for_is_at_the_bound():
    rng = np.random.default_rng(0)
    assert drawn_scale(rng, 2, 1e9) == 1 / LARGEST_SCALE**2
    assert np.isfinite(drawn_scale(rng, 4, 0.0))


def test_steps_by_slices_leave_their_density_as_it_is():
    """Each step starts at a factor of one, so the numbers of the density move with the draw."""
    rng, parts = np.random.default_rng(1), np.array([3.0, 4.0, 2.0, 0.5, 2.5])
    at, drawn = 0.0, []
    for _ in range(40_000):
        straight, bent, apart, reach, power = parts
        moved = np.exp(at)
        now = straight * moved, bent * moved**2, apart, reach * moved**2, power
        at += sliced(rng, *now)
        drawn.append(at)
    norm = quad(lambda z: np.exp(log_density(z, *parts)), -20, 5)[0]
    for power in (1, 2):
        right = quad(lambda z, p=power: z**p * np.exp(log_density(z, *parts)), -20, 5)[0] / norm
        batches = (np.array(drawn) ** power).reshape(100, -1).mean(1)
        assert abs(batches.mean() - right) < 4.5 * batches.std() / 10


def test_a_density_that_is_no_number_moves_nothing():
    assert sliced(np.random.default_rng(2), np.inf, np.inf, 1.0, 1.0, 1.0) == 0.0


def test_hyper_widths_and_the_centre_given_the_mean():
    rng = np.random.default_rng(3)
    mu, mean = np.array([1.0, 3.0, -2.0]), np.array([0.5, 0.0, 0.0])
    own, hyper, numbers = np.array([True, False, False]), np.empty(3), np.array([1.0, 1.0, 0.7])
    drawn = []
    for _ in range(4000):
        draw_hyper(rng, mu, mean, own, False, hyper, numbers)
        drawn.append(hyper.copy())
    assert numbers[CENTRE] == 0.7
    draws = np.array(drawn)
    np.testing.assert_array_equal(draws[:, 1], draws[:, 2])
    first = invgamma(1.0, scale=(1 + (1.0 - 0.5 - 0.7) ** 2) / 2)
    other = invgamma(1.5, scale=(1 + (3.0 - 0.7) ** 2 + (-2.0 - 0.7) ** 2) / 2)
    assert kstest(draws[:, 0], first.cdf).pvalue > 1e-4
    assert kstest(draws[:, 1], other.cdf).pvalue > 1e-4
    pulls = []
    for _ in range(4000):
        draw_hyper(rng, mu, mean, np.zeros(3, bool), True, hyper, numbers)
        pulls.append((numbers[CENTRE] - (mu - mean).mean()) / np.sqrt(hyper[0] / 3))
    assert kstest(pulls, "norm").pvalue > 1e-4
