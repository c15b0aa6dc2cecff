"""Tasks of three uneven populations, a random prior for them, and random events."""

import numpy as np

from support.worlds import random_hierarchy

POPULATION = np.array([2, 0, 2, 2, 1, 0, 2])
D = 3


def random_prior(rng, form):
    return random_hierarchy(rng, form, D, (1.0, 0.5), rng.standard_normal(D), 0.6)


def random_events(rng, form, size=60):
    tasks = rng.integers(0, POPULATION.size, size)
    features = rng.integers(0, D, size) if form != "linear" else rng.standard_normal((size, D))
    return tasks, features, rng.standard_normal(size)
