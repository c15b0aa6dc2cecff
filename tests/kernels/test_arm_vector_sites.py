"""An arm with full covariances is a unit vector."""

import numpy as np
from numpy.testing import assert_allclose
from support.family_worlds import random_cov

import hierbandits as hb


def test_arms_are_unit_vectors():
    rng = np.random.default_rng(3)
    parts = {
        "hyper_mean": rng.normal(size=3),
        "hyper_cov": random_cov(rng, 3),
        "task_cov": random_cov(rng, 3, 0.4),
        "noise_std": 1.0,
    }
    armed = hb.GeneralizedHierarchy(hb.GaussianHierarchy.armed(3, **parts), "bernoulli")
    linear = hb.GeneralizedHierarchy(hb.GaussianHierarchy(**parts), "bernoulli")
    tasks, arms, clicks = rng.integers(0, 4, 30), rng.integers(0, 3, 30), rng.integers(0, 2, 30)
    one, other = hb.MatchedBelief(armed, 4), hb.MatchedBelief(linear, 4)
    one.observe(tasks, arms, clicks)
    other.observe(tasks, np.eye(3)[arms], clicks)
    assert_allclose(one.hyper().cov, other.hyper().cov, rtol=1e-12)
    assert_allclose(one.hyper().mean, other.hyper().mean, rtol=1e-12)
