"""The log evidence, and that of an unknown scale."""

import numpy as np
from hypothesis import given, settings
from scipy.integrate import quad
from support.oracle import random_cov
from support.worlds import assert_close, worlds

from hierbandits import (
    Belief,
    GaussianHierarchy,
)


@settings(max_examples=100)
@given(worlds())
def test_log_evidence_is_the_joint_density_of_the_rewards(world):
    belief, joint = world.observed(), world.joint()
    total = belief.log_evidence().sum()
    assert_close(total, joint.log_evidence, scale=max(1.0, abs(joint.log_evidence)))
    assert belief.evidence.count.sum() == len(world.rewards)


def test_evidence_of_an_unknown_scale_is_the_integral_over_the_scale():
    rng = np.random.default_rng(4)
    prior = GaussianHierarchy(
        hyper_mean=[0.3, -1.0],
        hyper_cov=random_cov(rng, 2, 2.0),
        task_cov=random_cov(rng, 2, 0.5),
        noise_std=1.0,
    )
    tasks, features = rng.integers(0, 3, 7), rng.standard_normal((7, 2))
    rewards = 5 * rng.standard_normal(7)

    def density(log_scale: float) -> float:  # of the rewards, and of log s: s^2 has 1 / s^2
        scale = np.exp(log_scale)
        covs = [scale**2 * cov for cov in prior.covs]
        belief = Belief(prior.with_levels(prior.hyper_mean, covs, scale), 3)
        belief.observe(tasks, features, rewards)
        return float(np.exp(belief.log_evidence()[0]))

    belief = Belief(prior, 3)
    np.testing.assert_array_equal(belief.evidence.log_any_scale(), 0.0)
    belief.observe(tasks, features, rewards)
    integral = quad(density, -3, 8, epsabs=0, epsrel=1e-10)[0] * 2  # d s^2 / s^2 = 2 d log s
    np.testing.assert_allclose(belief.evidence.log_any_scale(), np.log(integral), rtol=1e-8)
