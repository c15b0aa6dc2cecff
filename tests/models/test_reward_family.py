"""Every family: its density, its derivatives, its draws and what it refuses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.family_reference import LOG_DENSITIES

import hierbandits as hb
from hierbandits.models import (
    FAMILIES,
    BernoulliRewards,
    BinomialRewards,
    GaussianRewards,
    PoissonRewards,
)

CASES = [  # a family, and rewards with their exposures
    (GaussianRewards(0.7), [(-1.3, 1.0), (4.2, 2.5)]),
    (BernoulliRewards(), [(0.0, 1.0), (1.0, 1.0)]),
    (BinomialRewards(), [(0.0, 7.0), (3.0, 7.0), (7.0, 7.0)]),
    (PoissonRewards(), [(0.0, 1.0), (2.0, 0.3), (9.0, 4.0)]),
]
ETA = np.array([-30.0, -4.0, -1.1, 0.0, 0.4, 3.0, 6.0])
each_family = pytest.mark.parametrize(
    "family", [family for family, _ in CASES], ids=lambda f: f.NAME
)


def _log_density(family, reward, exposure, eta):
    out = np.empty_like(eta)
    type(family).log_densities(reward, exposure, family.shape, eta, out, eta.size)
    return out + family.log_base(np.array([reward]), np.array([exposure]))


def test_all_families_of_the_table_are_tested():
    assert {family.NAME for family, _ in CASES} == set(FAMILIES)


@pytest.mark.parametrize(("family", "rewards"), CASES, ids=lambda case: getattr(case, "NAME", ""))
def test_the_density_is_scipys(family, rewards):
    for reward, exposure in rewards:
        known = LOG_DENSITIES[family.NAME](reward, exposure, family.shape, ETA)
        assert_allclose(_log_density(family, reward, exposure, ETA), known, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("family", "rewards"), CASES, ids=lambda case: getattr(case, "NAME", ""))
def test_slope_and_curvature_are_the_derivatives(family, rewards):
    step, eta = 1e-4, ETA[1:]
    for reward, exposure in rewards:
        low, mid, high = (_log_density(family, reward, exposure, eta + s) for s in (-step, 0, step))
        slope = [type(family).slope(reward, exposure, family.shape, x) for x in eta]
        curvature = [type(family).curvature(reward, exposure, family.shape, x) for x in eta]
        assert_allclose(slope, (high - low) / (2 * step), rtol=1e-4, atol=1e-6)
        assert_allclose(curvature, -(high - 2 * mid + low) / step**2, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("family", "rewards"), CASES, ids=lambda case: getattr(case, "NAME", ""))
def test_draws_have_the_density(family, rewards):
    """Shares of draws within six standard errors, at a fixed seed."""
    number, exposure = 20_000, rewards[-1][1]
    uniforms = np.random.default_rng(3).random(number)
    for eta in (-2.0, 0.3):
        drawn = family.draw(np.full(number, eta), np.full(number, exposure), uniforms)
        family.check("rewards", drawn, np.full(number, exposure))  # accepts its own
        mean, std = exposure * family.mean(np.array([eta]))[0], drawn.std()
        assert abs(drawn.mean() - mean) < 6 * std / np.sqrt(number)
        if family.NAME == "gaussian":
            assert_allclose(std, np.sqrt(exposure) * family.noise_std, rtol=0.03)
            continue
        for value in range(4):
            log_p = LOG_DENSITIES[family.NAME](value, exposure, family.shape, eta)
            p = float(np.exp(log_p))
            assert abs((drawn == value).mean() - p) < 6 * np.sqrt(p * (1 - p) / number) + 1e-12


@each_family
def test_the_mean_reward_of_a_gaussian_predictor(family):
    draws = np.random.default_rng(0).standard_normal(400_000)
    mean, std = family.mean_and_std(np.array([-0.8, 0.5]), np.array([0.9, 0.2]))
    for m, s, got, spread in zip([-0.8, 0.5], [0.9, 0.2], mean, std, strict=True):
        values = family.mean(m + s * draws)
        assert abs(values.mean() - got) < 6 * values.std() / np.sqrt(draws.size)
        assert_allclose(spread, values.std(), rtol=0.02)


def test_the_log_base_of_counts_takes_arrays_of_one_shape():
    """A count below 0 is no place of a table, and an exposure that is missing none of an array."""
    family, counts = PoissonRewards(), np.array([-300.0, 2.0])
    assert np.isfinite(family.log_base(counts, np.ones(2))[1])
    with pytest.raises(ValueError, match="exposure must have the shape of rewards"):
        family.log_base(counts, np.ones(1))


@pytest.mark.parametrize(
    ("family", "exposure", "message"),
    [
        ("poisson", 1e-300, r"exposure must be in \[1e-09, 1e\+09\], got 1e-300 at \[1\]"),
        ("poisson", 0.0, r"exposure must be positive, got 0 at \[1\]"),
        ("binomial", 1e-300, "exposure must be whole numbers of trials"),
        ("gaussian", 1e-300, "exposure must be positive, at least 1e-60, got 1e-300"),
    ],
)
def test_exposures_are_told_their_own_bound(family, exposure, message):
    prior = hb.GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=1.0)
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, family), num_tasks=2)
    with pytest.raises(ValueError, match=message):
        belief.observe([0, 1], [0, 1], [0.0, 0.0], exposure=[1.0, exposure])
