"""Quick moments of clicks and counts beside sums over a fine grid, and where they are not used."""

import numpy as np
import pytest

from hierbandits.kernels.matched_site import WORK, matched_site, summed_site
from hierbandits.kernels.quick_moments import (
    FURTHEST,
    WIDEST_CLICK,
    click_moments,
    count_moments,
)
from hierbandits.models import BernoulliRewards, BinomialRewards, PoissonRewards

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


@pytest.mark.parametrize("std", [0.01, 0.3, 0.6, 0.8, np.sqrt(WIDEST_CLICK)])
def test_clicks_are_right_to_one_part_in_ten_million(std):
    for mean in np.linspace(-9, 9, 13):
        exact = _exact(lambda eta: -np.logaddexp(0, -eta), mean, std)
        _assert_close(click_moments(mean, std**2), exact, mean, std, 1.5e-7)


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


@pytest.mark.parametrize(
    ("family", "event"),
    [
        (BernoulliRewards(), (1.0, 1.0)),
        (BinomialRewards(), (0.0, 1.0)),
        (PoissonRewards(), (1.0, 2.0)),
    ],
)
def test_both_ways_to_a_site_agree(family, event):
    work = np.empty(WORK)
    for mean in (-3.0, -0.5, 0.7):
        for var in (1e-4, 0.05, 0.3):
            quick = matched_site(family.code, *event, family.shape, mean, var, work)
            summed = summed_site(family.code, *event, family.shape, mean, var, work)
            after = [1 / (1 / var + site[0]) for site in (quick, summed)]
            assert after[0] == pytest.approx(after[1], rel=2e-6)
            centres = [a * (mean / var + s[1]) for a, s in zip(after, (quick, summed), strict=True)]
            assert centres[0] == pytest.approx(centres[1], abs=2e-6 * np.sqrt(after[0]))
            assert quick[2] == pytest.approx(summed[2], abs=1e-6)


def test_trials_wide_and_far_predictors_take_the_longer_sum():
    work = np.empty(WORK)
    for event in (
        (1.0, 3.0, 0.0, 0.3, 0.2),
        (1.0, 1.0, 0.0, 0.3, 1.01),
        (1.0, 1.0, 0.0, -FURTHEST, 0.2),
    ):
        code = BinomialRewards().code
        quick, summed = matched_site(code, *event, work), summed_site(code, *event, work)
        np.testing.assert_allclose(quick, summed, rtol=1e-12)  # compiled twice, so not bit by bit
