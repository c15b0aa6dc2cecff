"""Draws have the joint posterior's moments, within six standard errors."""

import numpy as np
import pytest
from support.worlds import FORMS, World, random_hierarchy

from hierbandits import GaussianHierarchy

DRAWS = 40_000


def _world(form, levels):
    rng = np.random.default_rng(10 * levels + FORMS.index(form))
    d, shape = 3, (2,) * (levels - 1)
    stds = (1.5, 1.0, 0.7)[:levels]
    prior = random_hierarchy(rng, form, d, stds, rng.standard_normal(d), 0.6)
    events = 9
    tasks = rng.integers(0, 2 * int(np.prod(shape)), events)
    features = rng.integers(0, d, events) if prior.is_armed else rng.standard_normal((events, d))
    means = rng.standard_normal((2, d))
    y, noise = rng.standard_normal(events), np.full(events, 0.6)
    return World(prior, shape, 2, means, tasks, features, y, noise)


def _assert_moments(draws, mean, cov):
    """Every mean and every entry of the covariance within six standard errors."""
    n = len(draws)
    std = np.sqrt(np.diagonal(cov))
    assert np.all(np.abs(draws.mean(axis=0) - mean) <= 6 * std / np.sqrt(n))
    centred = draws - mean
    error = np.abs(centred.T @ centred / n - cov)
    spread = np.sqrt((np.outer(std, std) ** 2 + cov**2) / n)
    assert np.all(error <= 6 * spread)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_round_is_one_draw_of_the_joint_posterior(form, levels):
    world = _world(form, levels)
    belief, joint = world.observed(), world.joint()
    rng = np.random.default_rng(0)
    tasks = np.arange(world.num_tasks)
    draws, slots = belief._raw_draws(rng, tasks, repeats=DRAWS)
    draws = draws[slots].reshape(DRAWS, -1)
    _assert_moments(draws, *joint.of(*tasks))


@pytest.mark.parametrize("form", FORMS)
def test_sample_has_the_same_law_as_many_draws(form):
    world = _world(form, 2)
    belief, joint = world.observed(), world.joint()
    rng = np.random.default_rng(1)
    draws = np.array([belief.sample(rng, [0, 1]).ravel() for _ in range(DRAWS // 2)])
    _assert_moments(draws, *joint.of(0, 1))


def test_repeats_of_a_task_share_their_draw():
    belief = _world("linear", 3).observed()
    theta = belief.sample(np.random.default_rng(2), [3, 1, 3, 3])
    np.testing.assert_array_equal(theta[0], theta[2])
    np.testing.assert_array_equal(theta[0], theta[3])
    assert not np.array_equal(theta[0], theta[1])


def test_a_task_and_its_ancestors_may_be_drawn_together():
    world = _world("linear", 3)
    belief, joint = world.observed(), world.joint()
    path = belief._nodes.forest.path(0)
    nodes = np.array([path[2], path[0], path[1]])  # a root before its descendants
    draws, slots = belief._raw_draws(np.random.default_rng(3), nodes, repeats=DRAWS)
    _assert_moments(draws[slots].reshape(DRAWS, -1), *joint.of(*nodes))


@pytest.mark.parametrize("form", FORMS)
def test_fresh_draws_have_the_same_marginals_but_share_nothing(form):
    world = _world(form, 2)
    belief, joint = world.observed(), world.joint()
    tasks = np.array([0, 1, 0])
    draws, slots = belief._raw_draws(np.random.default_rng(4), tasks, repeats=DRAWS, fresh=True)
    draws = draws[slots].reshape(DRAWS, 3, -1)
    np.testing.assert_array_equal(draws[:, 0], draws[:, 2])
    mean, cov = joint.of(0, 1)
    d = world.prior.dim
    assert np.abs(cov[:d, d:]).max() > 0.05  # which the shared draw would show
    cov[:d, d:] = cov[d:, :d] = 0.0
    _assert_moments(draws[:, :2].reshape(DRAWS, -1), mean, cov)


def test_many_tasks_of_many_populations_keep_to_their_own():
    """Node numbers a large power of two apart must not confuse the table of slots."""
    prior = GaussianHierarchy.armed(1, hyper_std=1.0, task_std=0.1, noise_std=0.1)
    from hierbandits import Belief

    belief = Belief(prior, 1024, 64)
    tasks = np.repeat(np.arange(64) * 1024, 20)
    belief.observe(tasks, np.zeros(tasks.size, int), tasks.astype(float))
    theta = belief.sample(np.random.default_rng(5), np.arange(64) * 1024)[:, 0]
    np.testing.assert_allclose(theta, np.arange(64) * 1024.0, rtol=0.05, atol=0.5)


def test_without_a_generator_the_draws_are_the_means():
    world = _world("linear", 3)
    belief, joint = world.observed(), world.joint()
    theta, slots = belief._raw_draws(None, np.arange(world.num_tasks))
    for task in range(world.num_tasks):
        np.testing.assert_allclose(theta[slots[task]], joint.of(task)[0], rtol=1e-9)


def test_the_same_seed_gives_the_same_draws():
    belief = _world("armed", 2).observed()
    one = belief.sample(np.random.default_rng(6), [0, 1])
    other = belief.sample(np.random.default_rng(6), [0, 1])
    np.testing.assert_array_equal(one, other)
