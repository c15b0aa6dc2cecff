"""A belief that has seen a few rewards, and sets of arms, for the tests of rules."""

import numpy as np

from hierbandits import Arms, Belief, GaussianHierarchy
from support.oracle import random_cov

TASKS = np.array([2, 0, 2])
RAGGED = [np.random.default_rng(9).standard_normal((k, 3)) for k in (2, 5, 4)]


def rewarded_belief(armed, seed=0, m=3, d=3):
    rng = np.random.default_rng(seed)
    if armed == "correlated":
        cov = random_cov(rng, d, 0.6)
        prior = GaussianHierarchy.armed(d, hyper_std=0.8, task_cov=cov, noise_std=0.6)
        x = rng.integers(0, d, 12)
    elif armed:
        prior = GaussianHierarchy.armed(
            d, hyper_mean=rng.standard_normal(d), hyper_std=0.8, task_std=0.5, noise_std=0.6
        )
        x = rng.integers(0, d, 12)
    else:
        prior = GaussianHierarchy(
            hyper_mean=rng.standard_normal(d),
            hyper_cov=random_cov(rng, d),
            task_cov=random_cov(rng, d, 0.6),
            noise_std=0.6,
        )
        x = rng.standard_normal((12, d))
    belief = Belief(prior, m)
    belief.observe(rng.integers(0, m, 12), x, rng.standard_normal(12))
    return belief


def arms_for(belief, sets, tasks):
    return Arms.of(sets, len(tasks), belief.dim, armed=belief.is_armed)
