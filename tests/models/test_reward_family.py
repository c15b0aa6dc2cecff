"""Every family: its density, its derivatives, its draws and what it refuses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.family_reference import LOG_DENSITIES

from hierbandits.models import (
    FAMILIES,
    BernoulliRewards,
    BinomialRewards,
    GaussianRewards,
    PoissonRewards,
)
from hierbandits.models.reward_families import checked_family, family_from_dict

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


@pytest.mark.parametrize(
    ("family", "reward", "exposure", "message"),
    [
        (BernoulliRewards(), 2.0, 1.0, r"rewards must be 0 or 1, got 2 at \[1\]"),
        (BernoulliRewards(), 0.5, 1.0, "rewards must be 0 or 1, got 0.5"),
        (BernoulliRewards(), 1.0, 2.0, "exposure must be 1 for bernoulli rewards"),
        (BinomialRewards(), 4.0, 3.0, "rewards must be numbers of successes, from 0 to .* got 4"),
        (BinomialRewards(), -1.0, 3.0, "rewards must be numbers of successes"),
        (BinomialRewards(), 1.0, 2.5, "exposure must be whole numbers of trials, got 2.5"),
        (PoissonRewards(), -1.0, 1.0, "rewards must be counts, whole numbers of .* got -1"),
        (PoissonRewards(), 0.5, 1.0, "rewards must be counts"),
    ],
)
def test_wrong_rewards_are_refused_by_name(family, reward, exposure, message):
    with pytest.raises(ValueError, match=message):
        family.check("rewards", np.array([1.0, reward]), np.array([1.0, exposure]))


@each_family
def test_the_mean_reward_of_a_gaussian_predictor(family):
    draws = np.random.default_rng(0).standard_normal(400_000)
    mean, std = family.mean_and_std(np.array([-0.8, 0.5]), np.array([0.9, 0.2]))
    for m, s, got, spread in zip([-0.8, 0.5], [0.9, 0.2], mean, std, strict=True):
        values = family.mean(m + s * draws)
        assert abs(values.mean() - got) < 6 * values.std() / np.sqrt(draws.size)
        assert_allclose(spread, values.std(), rtol=0.02)


@each_family
def test_a_family_is_its_name_and_numbers(family):
    assert family_from_dict(family.to_dict()) == family
    assert checked_family(family) is family
    assert checked_family(family.NAME) == FAMILIES[family.NAME]()


def test_unknown_families_are_refused():
    with pytest.raises(ValueError, match="rewards must be one of gaussian, bernoulli, binomial"):
        checked_family("gamma")
    with pytest.raises(ValueError, match="rewards must be one of"):
        family_from_dict({"noise_std": 1.0})
    with pytest.raises(ValueError, match="rewards must have the parts of a bernoulli family"):
        family_from_dict({"name": "bernoulli", "noise_std": 1.0})
    with pytest.raises(ValueError, match="noise_std must be positive"):
        family_from_dict({"name": "gaussian", "noise_std": 0.0})
