"""Laws of a belief: order, batches, limits, additions, corrections."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracle import random_cov
from support.states import belief_state, largest_mean
from support.worlds import FORMS, World, assert_close, random_hierarchy, worlds

from hierbandits import (
    Belief,
    GaussianHierarchy,
    TaskSums,
)


def _two_levels(rng, d, hyper_cov, task_cov):
    return GaussianHierarchy(
        hyper_mean=rng.standard_normal(d), hyper_cov=hyper_cov, task_cov=task_cov, noise_std=0.7
    )


@settings(max_examples=60)
@given(worlds(), st.randoms(use_true_random=False))
def test_order_does_not_matter(world, random):
    order = list(range(len(world.rewards)))
    random.shuffle(order)
    one, other = world.observed(), world.observed(np.array(order, np.intp))
    for node in range(one.num_nodes):
        assert_close(other.task(node).mean, one.task(node).mean, scale=largest_mean(one))
        assert_close(other.task(node).cov, one.task(node).cov)
    scale = np.maximum(1.0, np.abs(one.log_evidence()).max())
    assert_close(other.log_evidence(), one.log_evidence(), scale=scale)


@settings(max_examples=40)
@given(worlds(), st.integers(0, 25))
def test_a_batch_equals_its_events_one_by_one(world, cut):
    whole, parts = world.observed(), world.belief()
    for e in [slice(0, cut), *(slice(i, i + 1) for i in range(cut, len(world.rewards)))]:
        parts.observe(world.tasks[e], world.features[e], world.rewards[e], world.noise_std[e])
    # Rewards climb in the same order, so the results are the same to the bit.
    assert belief_state(parts) == belief_state(whole)
    np.testing.assert_array_equal(parts.log_evidence(), whole.log_evidence())


@settings(max_examples=30)
@given(worlds(max_events=0))
def test_no_data_gives_the_prior(world):
    belief, joint = world.belief(), world.joint()
    np.testing.assert_array_equal(belief.log_evidence(), 0.0)
    for node in range(belief.num_nodes):
        mean, cov = joint.of(node)
        assert_close(belief.task(node).mean, mean)
        assert_close(belief.task(node).cov, cov)


@settings(max_examples=30)
@given(worlds(max_events=12))
def test_the_same_batch_twice_counts_twice(world):
    twice = world.observed()
    twice.observe(world.tasks, world.features, world.rewards, world.noise_std)
    doubled = World(
        world.prior,
        world.shape,
        world.num_populations,
        world.hyper_means,
        *(np.concatenate([part, part]) for part in (world.tasks, world.features, world.rewards)),
        np.concatenate([world.noise_std, world.noise_std]),
    )
    joint = doubled.joint()
    for node in range(twice.num_nodes):
        assert_close(twice.task(node).mean, joint.of(node)[0], scale=np.abs(joint.mean).max())
        assert_close(twice.task(node).cov, joint.of(node)[1])


def test_task_cov_to_zero_pools_the_tasks():
    rng = np.random.default_rng(1)
    d, tasks = 3, rng.integers(0, 4, 30)
    x, y = rng.standard_normal((30, d)), rng.standard_normal(30)
    hyper_cov = random_cov(rng, d)
    prior = _two_levels(rng, d, hyper_cov, 1e-14 * random_cov(rng, d))
    pooled = GaussianHierarchy.deep(hyper_mean=prior.hyper_mean, covs=[hyper_cov], noise_std=0.7)
    near, limit = Belief(prior, 4), Belief(pooled)
    near.observe(tasks, x, y)
    limit.observe(np.zeros(30, int), x, y)
    for task in range(4):
        np.testing.assert_allclose(near.task(task).mean, limit.hyper().mean, atol=1e-10)
        np.testing.assert_allclose(near.task(task).cov, limit.hyper().cov, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_hyper_cov_zero_decouples_the_tasks(form):
    rng = np.random.default_rng(2)
    d, tasks = 3, rng.integers(0, 2, 20)
    prior = random_hierarchy(rng, form, d, (1.0, 0.7), rng.standard_normal(d), 0.4)
    prior = prior.with_levels(prior.hyper_mean, [np.zeros_like(prior.hyper_cov), prior.task_cov])
    features = rng.integers(0, d, 20) if prior.is_armed else rng.standard_normal((20, d))
    y = rng.standard_normal(20)
    both, alone = Belief(prior, 2), Belief(prior, 2)
    both.observe(tasks, features, y)
    alone.observe(tasks[tasks == 0], features[tasks == 0], y[tasks == 0])
    np.testing.assert_array_equal(both.task(0).mean, alone.task(0).mean)
    np.testing.assert_array_equal(both.task(0).cov, alone.task(0).cov)
    np.testing.assert_array_equal(both.hyper().mean, prior.hyper_mean)
    np.testing.assert_array_equal(both.hyper().cov, 0.0)
    np.testing.assert_array_equal(both.uncertainty(1).shared, 0.0)


@settings(max_examples=60)
@given(worlds(), st.floats(-5, 5), st.integers(0, 24))
def test_revise_is_as_if_the_reward_had_been_right(world, factor, place):
    if not len(world.rewards):
        return
    e = place % len(world.rewards)
    belief = world.observed()
    new = factor * world.noise_std[e]
    belief.revise(int(world.tasks[e]), world.features[e], world.rewards[e], new, world.noise_std[e])
    world.rewards[e] = new
    joint = world.joint()
    for node in range(belief.num_nodes):
        assert_close(belief.task(node).mean, joint.of(node)[0], scale=np.abs(joint.mean).max())
        assert_close(belief.task(node).cov, joint.of(node)[1])
    scale = max(1.0, abs(joint.log_evidence))
    assert_close(belief.log_evidence().sum(), joint.log_evidence, scale=scale)


def test_revise_uses_the_noise_of_the_hierarchy_by_default():
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=0.3)
    revised, right = Belief(prior, 2), Belief(prior, 2)
    revised.observe([0, 1], [1, 1], [5.0, 2.0])
    revised.revise(0, 1, 5.0, -1.0)
    right.observe([0, 1], [1, 1], [-1.0, 2.0])
    np.testing.assert_allclose(revised.task(1).mean, right.task(1).mean, rtol=1e-14)
    np.testing.assert_allclose(revised.log_evidence(), right.log_evidence(), rtol=1e-13)


@pytest.mark.parametrize("armed", [False, True])
def test_a_million_updates_of_one_arm_do_not_drift(armed):
    """n equal events on one task are known in closed form, here in exact arithmetic order."""
    n, d = 1_000_000, 4
    rng = np.random.default_rng(6)
    y = 0.3 + 0.5 * rng.standard_normal(n)
    x = np.array([0.7, -0.2, 0.4, 1.1])
    if armed:
        x = np.array([0.0, 0.0, 1.0, 0.0])
        prior = GaussianHierarchy.armed(
            d, hyper_mean=0.2, hyper_std=[1.0, 2.0, 0.8, 0.4], task_std=0.3, noise_std=0.5
        )
        features = np.full(n, 2)
    else:
        prior = _two_levels(rng, d, random_cov(rng, d), random_cov(rng, d, 0.5))
        features = np.tile(x, (n, 1))
    belief = Belief(prior, 2)
    belief.observe(np.zeros(n, int), features, y)
    # One observation of x @ theta by the mean reward, of variance noise^2 / n.
    covs = [np.diag(c) if armed else c for c in prior.covs]
    total = covs[0] + covs[1]
    var = prior.noise_std**2 / n
    gain = total @ x / (x @ total @ x + var)
    residual = np.mean(y) - x @ prior.hyper_mean
    cov = total - np.outer(gain, gain) * (x @ total @ x + var)
    task = belief.task(0)
    np.testing.assert_allclose(task.mean, prior.hyper_mean + gain * residual, rtol=1e-9)
    # Along x nearly all variance is gone: compare there with its exact value.
    exact = 1 / (1 / (x @ total @ x) + 1 / var)
    np.testing.assert_allclose(x @ task.cov @ x, exact, rtol=1e-9)
    np.testing.assert_allclose(task.cov, cov, atol=1e-9 * np.abs(cov).max())
    assert np.linalg.eigvalsh(task.cov)[0] > 0
    other = covs[0] @ x / (x @ total @ x + var)
    np.testing.assert_allclose(belief.hyper().mean, prior.hyper_mean + other * residual, rtol=1e-9)


def test_a_task_after_many_events_still_learns_from_few_others():
    """Task states of very different precision stand beside each other."""
    rng = np.random.default_rng(7)
    d = 3
    prior = _two_levels(rng, d, random_cov(rng, d), random_cov(rng, d))
    sums = TaskSums.zeros(3, d)
    tasks = np.concatenate([np.zeros(100_000, int), [1, 1, 2]])
    x, y = rng.standard_normal((tasks.size, d)), rng.standard_normal(tasks.size)
    sums.add(tasks, x, y)
    belief, warm = Belief(prior, 3), Belief.from_sums(prior, sums)
    belief.observe(tasks, x, y)
    for task in range(3):
        np.testing.assert_allclose(belief.task(task).mean, warm.task(task).mean, rtol=1e-8)
        np.testing.assert_allclose(belief.task(task).cov, warm.task(task).cov, rtol=1e-8)
