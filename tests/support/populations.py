"""Tasks of three uneven populations, a random prior for them, and random events."""

import numpy as np

from hierbandits import GaussianHierarchy
from support.oracle import random_cov

POPULATION = np.array([2, 0, 2, 2, 1, 0, 2])
D = 3


def random_prior(rng, armed):
    mean = rng.standard_normal(D)
    if armed:
        stds = {"hyper_std": rng.uniform(0.5, 2, D), "task_std": rng.uniform(0.2, 1, D)}
        return GaussianHierarchy.armed(D, hyper_mean=mean, **stds, noise_std=0.6)
    covs = {"hyper_cov": random_cov(rng, D), "task_cov": random_cov(rng, D, 0.5)}
    return GaussianHierarchy(hyper_mean=mean, **covs, noise_std=0.6)


def random_events(rng, armed, size=60):
    tasks = rng.integers(0, POPULATION.size, size)
    features = rng.integers(0, D, size) if armed else rng.standard_normal((size, D))
    return tasks, features, rng.standard_normal(size)
