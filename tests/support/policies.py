"""Small policies of every name, and a short run of one, for the tests of policies."""

import numpy as np
import pytest

from hierbandits import POLICIES, GaussianHierarchy
from support.oracle import random_cov

RUNS, TASKS, D, K = 3, 4, 3, 6

both = pytest.mark.parametrize("armed", [False, True, "correlated"])
every = pytest.mark.parametrize("name", POLICIES)


def small_prior(armed):
    rng = np.random.default_rng(0)
    if armed == "correlated":
        cov = random_cov(rng, D, 0.5)
        return GaussianHierarchy.armed(
            D, hyper_mean=0.2, hyper_std=[1.0, 0.5, 2.0], task_cov=cov, noise_std=0.6
        )
    if armed:
        return GaussianHierarchy.armed(
            D, hyper_mean=0.2, hyper_std=[1.0, 0.5, 2.0], task_std=0.4, noise_std=0.6
        )
    return GaussianHierarchy(
        hyper_mean=rng.standard_normal(D),
        hyper_cov=random_cov(rng, D),
        task_cov=random_cov(rng, D, 0.5),
        noise_std=0.6,
    )


def small_policy(name, armed, num_tasks=TASKS, runs=RUNS):
    truth = np.random.default_rng(1).standard_normal((runs, D))
    return POLICIES[name](small_prior(armed), num_tasks, runs, truth=truth)


def play(policy, armed, rounds=15, seed=2):
    """A short concurrent run; returns all choices."""
    rng, world = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    table = world.standard_normal((K, D))
    history = []
    for _ in range(rounds):
        tasks = world.integers(0, RUNS * TASKS, 5)
        choices = policy.act(rng, tasks, None if armed else table)
        features = choices if armed else table[choices]
        policy.learn(tasks, features, world.standard_normal(5) + choices)
        history.append(choices)
    return np.array(history)
