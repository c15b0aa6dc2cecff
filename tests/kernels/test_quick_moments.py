"""Quick moments of counts beside sums over a fine grid, and where they are not used."""

import numpy as np
import pytest

from hierbandits.kernels.matched_site import matched_moments, summed_moments
from hierbandits.kernels.quick_moments import FURTHEST, count_moments
from hierbandits.models import PoissonRewards

GRID = np.linspace(-14, 14, 20_001)


def _exact(log_density, mean, std):
    """log Z, and the mean and the variance given the reward."""
    eta = mean + std * GRID
    log_p = log_density(eta) - GRID**2 / 2
    weight = np.exp(log_p - log_p.max())
    log_z = log_p.max() + np.log(weight.sum() * (GRID[1] - GRID[0]) / np.sqrt(2 * np.pi))
    weight /= weight.sum()
    centre = weight @ eta
    return log_z, centre, weight @ (eta - centre) ** 2


def _assert_close(moments, exact, mean, std, tolerance):
    log_z, slope, curvature = moments
    assert log_z == pytest.approx(exact[0], abs=tolerance)
    assert mean + std**2 * slope == pytest.approx(exact[1], abs=tolerance * np.sqrt(exact[2]))
    assert std**2 * (1 - std**2 * curvature) == pytest.approx(exact[2], rel=tolerance)


@pytest.mark.parametrize("exposure", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("std", [0.02, 0.2, 0.4, 0.7])
def test_counts_are_right_or_left_to_the_longer_sum(std, exposure):
    done = 0
    for mean in (-6.0, -2.0, -0.7, 0.5, 2.0):
        for count in (0.0, 1.0, 4.0, 20.0):
            moments = count_moments(count, exposure, mean, std**2)
            if moments[2] < 0:
                continue
            done += 1
            exact = _exact(lambda eta, y=count: y * eta - exposure * np.exp(eta), mean, std)
            _assert_close(moments, exact, mean, std, 1.5e-7)
    assert done >= 1


def test_a_count_that_tells_much_is_left_to_the_longer_sum():
    assert count_moments(0.0, 1.0, 3.0, 1.0)[2] == -1.0  # a large rate, and nothing came
    assert count_moments(40.0, 1.0, 0.0, 0.3)[2] == -1.0  # far more than expected
    assert count_moments(1.0, 1.0, 0.0, 4.0)[2] == -1.0  # too wide


def test_both_ways_to_the_site_of_a_count_agree():
    family, event = PoissonRewards(), (1.0, 2.0)
    for mean in (-3.0, -0.5, 0.7):
        for var in (1e-4, 0.05, 0.3):
            quick = matched_moments(family.code, *event, 0.0, mean, var)
            summed = summed_moments(family.code, *event, 0.0, mean, var)
            assert quick[3] == pytest.approx(summed[3], rel=2e-6)
            width = np.sqrt(summed[3] / var)
            assert quick[1] == pytest.approx(summed[1], abs=2e-6 * width)
            assert quick[0] == pytest.approx(summed[0], abs=1e-6)


def test_far_predictors_take_the_longer_sum():
    code, event = PoissonRewards().code, (1.0, 2.0, 0.0, -FURTHEST, 0.2)
    np.testing.assert_allclose(
        matched_moments(code, *event)[0], summed_moments(code, *event)[0], rtol=1e-12
    )
