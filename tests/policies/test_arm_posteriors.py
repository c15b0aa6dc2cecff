"""Posteriors of every arm in every task."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.oracle import random_cov

from hierbandits import Belief, GaussianHierarchy
from hierbandits.policies.arm_posteriors import ArmPosteriors


@pytest.mark.parametrize("form", ["armed", "correlated", "linear"])
def test_draws_have_the_moments_of_the_belief(form):
    rng, linear = np.random.default_rng(0), form == "linear"
    table = rng.normal(size=(3, 2)) if linear else None
    prior = GaussianHierarchy.armed(3, hyper_std=0.7, task_std=[0.3, 0.4, 0.5], noise_std=0.8)
    if form == "correlated":
        prior = GaussianHierarchy.armed(
            3, hyper_std=0.7, task_cov=random_cov(rng, 3), noise_std=0.8
        )
    if linear:
        prior = GaussianHierarchy(
            hyper_mean=rng.normal(size=2), hyper_cov=random_cov(rng, 2),
            task_cov=random_cov(rng, 2, 0.5), noise_std=0.8,
        )  # fmt: skip
    belief = Belief(prior, population=[0, 1, 0, 0])
    x = rng.normal(size=(20, 2)) if linear else rng.integers(0, 3, 20)
    belief.observe(rng.integers(0, 4, 20), x, rng.normal(size=20))
    posteriors = ArmPosteriors.of(belief, table, np.arange(4))
    arms = np.eye(3) if table is None else table
    normals = rng.standard_normal((2, 20_000, arms.shape[1]))
    draws = posteriors.drawn(np.array([3, 1]), normals)
    for i, task in enumerate((3, 1)):
        posterior = belief.task(task)
        assert_allclose(posteriors.means[task], arms @ posterior.mean, rtol=1e-9)
        var = np.einsum("ai,ij,aj->a", arms, posterior.cov, arms)
        assert_allclose(posteriors.prediction.std[task] ** 2, var, rtol=1e-9)
        assert (np.abs(draws[i].mean(0) - posteriors.means[task]) < 6 * np.sqrt(var / 20_000)).all()
        cov = arms @ posterior.cov @ arms.T
        spread = np.sqrt((np.outer(var, var) + cov**2) / 20_000)
        assert (np.abs(np.cov(draws[i].T) - cov) < 6 * spread).all()


def test_tasks_of_a_pooled_belief_share_a_row():
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=1.0, noise_std=1.0)
    pooled = prior.with_levels(prior.hyper_mean, [prior.hyper_cov])
    belief = Belief(pooled, num_populations=2)
    belief.observe([1], [0], [3.0])
    posteriors = ArmPosteriors.of(belief, None, np.array([1, 0, 1]))
    assert posteriors.prediction.mean.shape == (2, 2)
    assert_allclose(posteriors.means, [[1.5, 0.0], [0.0, 0.0], [1.5, 0.0]])
