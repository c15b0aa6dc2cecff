"""Random events of tasks that share a mean, in several populations."""

import numpy as np


def task_events(seed, size, armed, *, tasks, dim=3, populations=1, task_std=0.4, noise=0.7):
    """Tasks, features (or arms) and rewards of `size` events; `tasks` in each population."""
    rng = np.random.default_rng(seed)
    mu = rng.normal(size=(populations, dim))
    theta = np.repeat(mu, tasks, axis=0) + task_std * rng.normal(size=(populations * tasks, dim))
    task = rng.integers(0, populations * tasks, size)
    features = rng.integers(0, dim, size) if armed else rng.normal(size=(size, dim))
    mean = theta[task, features] if armed else (features * theta[task]).sum(1)
    return task, features, mean + noise * rng.normal(size=size)
