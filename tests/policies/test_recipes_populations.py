"""Policies of populations that differ in size: each population is on its own."""

import numpy as np
import pytest
from support.policies import RUNS, TASKS, D, both, every, play, small_policy, small_prior

from hierbandits import POLICIES

HOME = np.array([1, 0, 1, 1, 2, 0])  # the population of each task


def _policies(name, armed):
    """A policy of all populations, and one policy for each population alone."""
    truth = np.random.default_rng(1).standard_normal((3, D))
    recipe, prior = POLICIES[name], small_prior(armed)
    whole = recipe(prior, num_populations=3, truth=truth, population=HOME)
    sizes = np.bincount(HOME).tolist()
    return whole, [recipe(prior, sizes[p], truth=truth[p : p + 1]) for p in range(3)]


@every
@both
def test_uneven_populations_are_policies_of_their_own(name, armed):
    whole, alone = _policies(name, armed)
    rng = np.random.default_rng(2)
    tasks = rng.integers(0, HOME.size, 60)
    features = rng.integers(0, D, 60) if armed else rng.standard_normal((60, D))
    rewards = HOME[tasks] + rng.standard_normal(60)
    whole.learn(tasks, features, rewards)
    for p, policy in enumerate(alone):
        members = np.flatnonzero(np.equal(HOME, p))
        own = np.isin(tasks, members)
        policy.learn(np.searchsorted(members, tasks[own]), features[own], rewards[own])
        for place, task in enumerate(members.tolist()):
            x = np.arange(D) if armed else np.eye(D)
            together = whole.predict([task] * D, x)
            apart = policy.predict([place] * D, x)
            np.testing.assert_allclose(together.mean, apart.mean, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(together.std, apart.std, rtol=1e-6)


@every
@both
def test_even_populations_are_the_same_in_either_form(name, armed):
    truth = np.random.default_rng(1).standard_normal((RUNS, D))
    listed = POLICIES[name](
        small_prior(armed), truth=truth, population=np.repeat(np.arange(RUNS), TASKS)
    )
    counted = small_policy(name, armed)
    np.testing.assert_array_equal(play(listed, armed), play(counted, armed))


def test_pooled_tasks_have_the_node_of_their_population():
    whole, _ = _policies("PooledTS", True)
    assert whole.belief.num_nodes == 3
    whole.learn([0, 4], [0, 0], [9.0, -9.0])
    means = whole.predict(np.arange(6), np.zeros(6, int)).mean
    assert means[0] == means[2] == means[3] > means[1] == means[5] > means[4]
    with pytest.raises(ValueError, match=r"tasks must be in \[0, 6\), got 6: there are 6 tasks"):
        whole.act(np.random.default_rng(0), [6])


@every
def test_bad_populations_are_refused(name):
    truth = np.zeros((3, D))
    for population in ([0, -1], [0.5, 1.0], [[0, 1]]):
        with pytest.raises(ValueError, match="population must"):
            POLICIES[name](small_prior(True), 0, 3, truth, population=population)
    with pytest.raises(ValueError, match="num_tasks must not be given with population, got 2"):
        POLICIES[name](small_prior(True), 2, 3, truth, population=HOME)
