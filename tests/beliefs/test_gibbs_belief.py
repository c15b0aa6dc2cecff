"""Polya-Gamma Gibbs sampling beside exact posteriors, by sums over grids."""

import numpy as np
import pytest
from support.family_reference import exact_posterior

import hierbandits as hb
from hierbandits.beliefs.gibbs_belief import GibbsBelief, polya_gamma
from hierbandits.models import FAMILIES

PRIOR = hb.GaussianHierarchy(
    hyper_mean=[-1.0, 0.2],
    hyper_cov=[[1.0, 0.2], [0.2, 0.5]],
    task_cov=[[0.3, -0.1], [-0.1, 0.25]],
    noise_std=1.0,
)


@pytest.mark.parametrize(("shape", "tilt"), [(1.0, 0.0), (1.0, 3.0), (7.0, -1.5)])
def test_weights_have_their_moments(shape, tilt):
    """E PG(b, c) = b / (2 c) tanh(c / 2); its variance follows from the sum."""
    rng, number = np.random.default_rng(0), 20_000
    draws = polya_gamma(rng, np.full(number, shape), np.full(number, tilt))
    mean = shape / 4 if tilt == 0 else shape / (2 * tilt) * np.tanh(tilt / 2)
    terms = (np.arange(1, 5000) - 0.5) ** 2 + (tilt / (2 * np.pi)) ** 2
    var = shape * (1 / (2 * np.pi**2 * terms) ** 2).sum()
    assert draws.mean() == pytest.approx(mean, abs=5 * np.sqrt(var / number))
    assert draws.var() == pytest.approx(var, rel=0.1)


@pytest.mark.parametrize("family", ["bernoulli", "binomial"])
def test_draws_have_the_moments_of_the_exact_posterior(family):
    rng, tasks = np.random.default_rng(1), np.repeat(np.arange(5), 12)
    x = np.column_stack([np.ones(60), rng.normal(size=60)])
    trials = np.ones(60) if family == "bernoulli" else rng.integers(1, 5, 60).astype(float)
    rewards = FAMILIES[family]().draw(rng.normal(-1, 0.7, 60), trials, rng.random(60))
    model = hb.GeneralizedHierarchy(PRIOR, family)
    belief = GibbsBelief(model, 5, seed=2)
    belief.observe(tasks, x, rewards, exposure=trials)
    exact = exact_posterior(PRIOR, FAMILIES[family](), 5, (tasks, x, rewards, trials))
    root, draws = int(belief.roots[0]), []
    belief.sweep(50)
    for _ in range(1500):
        belief.sweep()
        draws.append(belief.sample(rng, [0, 3, root]))
    mean, std = np.mean(draws, 0), np.std(draws, 0)
    truth = np.array([exact.task_means[0], exact.task_means[3], exact.hyper_mean])
    covs = [exact.task_covs[0], exact.task_covs[3], exact.hyper_cov]
    stds = np.sqrt([np.diag(cov) for cov in covs])
    assert (np.abs(mean - truth) < 0.15 * stds).all()
    np.testing.assert_allclose(std, stds, rtol=0.12)


def test_what_is_refused():
    with pytest.raises(ValueError, match="prior must be of bernoulli or binomial rewards"):
        GibbsBelief(hb.GeneralizedHierarchy(PRIOR, "poisson"), 2)
    model = hb.GeneralizedHierarchy(PRIOR, "bernoulli")
    with pytest.raises(ValueError, match="prior must have two levels"):
        GibbsBelief(model, 2, hyper_means=[[0.0, 0.0]])
    with pytest.raises(ValueError, match="sweeps must be a whole number of at least 1"):
        GibbsBelief(model, 2, sweeps=0)
