"""Sites with full covariances: what sharp and singular models need."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import hierbandits as hb
from hierbandits.models import GaussianRewards


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("noise", [1.0, 1e-4])
def test_sharp_rewards_are_learned_as_by_the_exact_recursion(dim, noise):
    rng = np.random.default_rng(dim)
    root = rng.normal(size=(dim, dim))
    prior = hb.GaussianHierarchy(
        hyper_mean=rng.normal(size=dim),
        hyper_cov=root @ root.T,
        task_cov=0.3 * np.outer(root[0], root[0]),  # singular for two features and more
        noise_std=noise,
    )
    exact = hb.Belief(prior, 3)
    matched = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, GaussianRewards(noise)), 3)
    tasks, features = rng.integers(0, 3, 12), rng.normal(size=(12, dim))
    for belief in (exact, matched):
        belief.observe(tasks, features, features.sum(1))
    for node in range(exact.num_nodes):
        assert_allclose(matched.task(node).mean, exact.task(node).mean, atol=1e-6)
        assert_allclose(matched.task(node).cov, exact.task(node).cov, atol=1e-6)
