"""Sites with diagonal covariances are those with full ones that are diagonals."""

import numpy as np
from numpy.testing import assert_allclose

import hierbandits as hb


def test_diagonals_are_matrices():
    stds = {"hyper_std": [1.0, 0.4, 0.7], "task_std": [0.3, 0.9, 0.5]}
    prior = hb.GaussianHierarchy.armed(3, hyper_mean=[-1.0, 0.2, 0.5], noise_std=1.0, **stds)
    full = hb.GaussianHierarchy.armed(
        3,
        hyper_mean=prior.hyper_mean,
        hyper_cov=np.diag(prior.hyper_cov),
        task_cov=np.diag(prior.task_cov),
        noise_std=1.0,
    )
    rng = np.random.default_rng(0)
    events = rng.integers(0, 4, 50), rng.integers(0, 3, 50), rng.poisson(1.0, 50)
    beliefs = [hb.MatchedBelief(hb.GeneralizedHierarchy(p, "poisson"), 4) for p in (prior, full)]
    for belief in beliefs:
        belief.observe(*events)
        belief.refit(sweeps=2)
    assert [belief.is_diagonal for belief in beliefs] == [True, False]
    for node in range(5):
        one, other = (belief.task(node) for belief in beliefs)
        assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-12)
        assert_allclose(one.cov, other.cov, rtol=1e-9, atol=1e-12)
    assert_allclose(*(belief.log_evidence() for belief in beliefs), rtol=1e-9)
