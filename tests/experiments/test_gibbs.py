"""Thompson sampling with draws from the exact posterior of clicks."""

import numpy as np
import pytest

import hierbandits as hb
from hierbandits.experiments.gibbs import GIBBS

PRIOR = hb.GaussianHierarchy.armed(
    2, hyper_mean=[0.0, -1.0], hyper_std=1.0, task_std=0.5, noise_std=1.0
)


def test_it_learns_which_arm_is_better():
    rng, tasks = np.random.default_rng(0), np.arange(8)
    policy = GIBBS(hb.GeneralizedHierarchy(PRIOR, "bernoulli"), 4, 2)
    rates, played = np.array([0.1, 0.8]), []
    for _ in range(30):
        arms = policy.act(rng, tasks)
        policy.learn(tasks, arms, (rng.random(8) < rates[arms]).astype(float))
        played.append((arms == 1).mean())
    assert np.mean(played[-8:]) > 0.8
    assert policy.belief.num_rewards.tolist() == [120, 120]
    with pytest.raises(ValueError, match="prior must be a GeneralizedHierarchy, got Gauss"):
        GIBBS(PRIOR, 4)
