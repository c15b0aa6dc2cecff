"""A site has the moments of its reward's posterior, and log Z its density."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.special import logsumexp
from support.family_reference import LOG_DENSITIES

from hierbandits.kernels.matched_site import matched_site
from hierbandits.models import (
    BernoulliRewards,
    BinomialRewards,
    GaussianRewards,
    PoissonRewards,
)

CASES = [
    (BernoulliRewards(), (0.0, 1.0)),
    (BernoulliRewards(), (1.0, 1.0)),
    (BinomialRewards(), (3.0, 20.0)),
    (BinomialRewards(), (900.0, 5000.0)),
    (PoissonRewards(), (0.0, 1.0)),
    (PoissonRewards(), (7.0, 2.0)),
    (PoissonRewards(), (1000.0, 3.0)),
    (GaussianRewards(0.7), (1.3, 1.0)),
]


def _moments(family, reward, exposure, mean, var):
    """log Z, mean and variance by a sum over a grid that is far too fine."""
    kind = type(family)

    def force(eta):
        return kind.slope(reward, exposure, family.shape, eta) - (eta - mean) / var

    reach = 1.0
    while force(mean - reach) < 0 or force(mean + reach) > 0:
        reach *= 1.5
    mode = brentq(force, mean - reach, mean + reach, xtol=1e-12)
    width = 1 / np.sqrt(1 / var + kind.curvature(reward, exposure, family.shape, mode))
    grid = np.unique(
        np.concatenate(
            [
                mode + width * np.linspace(-30, 30, 6001),
                mode + np.sqrt(var) * np.linspace(-15, 15, 6001),
            ]
        )
    )
    log_p = LOG_DENSITIES[family.NAME](reward, exposure, family.shape, grid)
    log_p -= family.log_base(np.array([reward]), np.array([exposure]))[0]
    log_p -= (grid - mean) ** 2 / (2 * var) + 0.5 * np.log(2 * np.pi * var)
    weight = log_p + np.log(np.gradient(grid))
    log_z = logsumexp(weight)
    share = np.exp(weight - log_z)
    centre = share @ grid
    return log_z, centre, share @ (grid - centre) ** 2


@pytest.mark.parametrize(
    ("family", "event"), CASES, ids=lambda case: getattr(case, "NAME", str(case))
)
@pytest.mark.parametrize("std", [0.02, 0.2, 0.39, 0.41, 1.0, 3.0, 20.0])
def test_moments_and_density(family, event, std):
    for mean in (-6.0, -1.0, 0.3, 4.0):
        site = matched_site(family.code, *event, family.shape, mean, std**2)
        var = 1 / (1 / std**2 + site[0])
        centre = var * (mean / std**2 + site[1])
        log_z, exact_mean, exact_var = _moments(family, *event, mean, std**2)
        assert abs(centre - exact_mean) < 2e-5 * np.sqrt(exact_var)
        assert_allclose(var, exact_var, rtol=1e-4)
        assert_allclose(site[2], log_z, rtol=1e-7, atol=2e-5)


def test_a_reward_that_tells_nothing_leaves_an_empty_site():
    site = matched_site(BernoulliRewards().code, 1.0, 1.0, 0.0, 60.0, 1.0)
    assert site[:2] == (0.0, 0.0)
    assert abs(site[2]) < 1e-12


def test_a_surprise_moves_the_mean_even_if_it_narrows_nothing():
    """Far in the tail a click's log density is linear in eta: it has a slope and no curvature."""
    precision, weighted, _ = matched_site(BernoulliRewards().code, 1.0, 1.0, 0.0, -60.0, 1.0)
    assert precision == 0.0
    assert_allclose(weighted, 1.0)


@pytest.mark.parametrize("mean", [-1e4, 0.0, 1e4])
@pytest.mark.parametrize("std", [1e-3, 1.0, 1e3])
def test_extreme_predictors_stay_finite(mean, std):
    for family, event in CASES:
        site = matched_site(family.code, *event, family.shape, mean, std**2)
        assert np.isfinite(site).all()
        assert site[0] >= 0


@pytest.mark.parametrize("mean", [300.0, 700.0, 14_000.0])
@pytest.mark.parametrize("std", [200.0, 3000.0])
def test_the_mode_is_found_from_where_rates_are_far_too_large(mean, std):
    """There Newton's steps have length one, or overflow."""
    for reward in (1.0, 370.0):
        site = matched_site(PoissonRewards().code, reward, 1.0, 0.0, mean, std**2)
        var = 1 / (1 / std**2 + site[0])
        centre = var * (mean / std**2 + site[1])
        eta = np.linspace(-60.0, 12.0, 200_001)
        log_p = reward * eta - np.exp(eta) - (eta - mean) ** 2 / (2 * std**2)
        share = np.exp(log_p - logsumexp(log_p))
        exact = share @ eta
        exact_var = share @ (eta - exact) ** 2
        assert abs(centre - exact) < 1e-3 * np.sqrt(exact_var)
        assert_allclose(var, exact_var, rtol=1e-3)
