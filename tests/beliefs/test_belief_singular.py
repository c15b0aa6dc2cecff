"""Covariances that are singular, or nearly, are exact: against conditioning of the dense joint."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.states import belief_state
from support.worlds import worlds

from hierbandits import Belief, GaussianHierarchy, TaskSums


def _squeezed(rng, cov, condition):
    """The covariance with directions of less variance, or with none if condition is infinite."""
    if cov.ndim == 1:
        return np.where(rng.random(cov.size) < 0.5, cov / condition, cov)
    _, vectors = np.linalg.eigh(cov)
    values = np.max(np.diagonal(cov)) * condition ** -np.sort(rng.random(len(cov)))
    if np.isinf(condition):
        values = np.diagonal(cov) * (rng.random(len(cov)) < 0.5)
    squeezed = (vectors * values) @ vectors.T
    return (squeezed + squeezed.T) / 2


@st.composite
def squeezed_worlds(draw):
    """Worlds of up to four levels in which covariances below the root are (nearly) singular."""
    world = draw(worlds(levels=st.integers(2, 4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    condition = draw(st.sampled_from([1e6, 1e10, 2e15, np.inf]))
    prior = world.prior
    below = [_squeezed(rng, cov, condition) for cov in prior.covs[1:]]
    world = replace(world, prior=prior.with_levels(prior.hyper_mean, [prior.covs[0], *below]))
    world.noise_std[:] = prior.noise_std
    world.hyper_means[:] = prior.hyper_mean
    return world


def _assert_exact(belief, joint, world):
    """Means to 1e-9 standard deviations, covariances to 1e-9 of the variances."""
    for node in range(belief.num_nodes):
        mean, cov = joint.of(node)
        std = np.sqrt(np.diagonal(cov))
        given_mean, given_cov = belief.task(node).mean, belief.task(node).cov
        assert (np.abs(given_mean - mean) <= 1e-9 * (std + np.abs(mean))).all()
        assert (np.abs(given_cov - cov) <= 1e-9 * np.outer(std, std)).all()
    prediction = belief.predict(world.tasks[:5], world.features[:5])
    for e, task in enumerate(world.tasks[:5]):
        mean, cov = joint.of(int(task))
        x = world.vectors()[e]
        np.testing.assert_allclose(prediction.std[e] ** 2, x @ cov @ x, rtol=1e-8)


@settings(max_examples=80)
@given(squeezed_worlds())
def test_singular_and_nearly_singular_covariances_are_exact(world):
    belief, joint = world.observed(), world.joint()
    _assert_exact(belief, joint, world)
    total = belief.log_evidence().sum()
    assert total == pytest.approx(joint.log_evidence, rel=1e-9, abs=1e-9)


@settings(max_examples=40)
@given(squeezed_worlds())
def test_their_sums_give_the_same(world):
    sums = TaskSums.zeros(world.num_tasks, world.prior.dim, armed=world.prior.is_armed)
    sums.add(world.tasks, world.features, world.rewards)
    warm = Belief.from_sums(world.prior, sums, world.num_populations, world.shape)
    _assert_exact(warm, world.joint(), world)
    np.testing.assert_allclose(
        warm.log_evidence(), world.observed().log_evidence(), rtol=1e-9, atol=1e-9
    )


def test_equal_tasks_are_one_task():
    rng = np.random.default_rng(0)
    prior = GaussianHierarchy(
        hyper_mean=[1.0, -1.0],
        hyper_cov=[[1.0, 0.3], [0.3, 2.0]],
        task_cov=np.zeros((2, 2)),
        noise_std=0.5,
    )
    belief, pooled = Belief(prior, 3), Belief(prior.with_levels(prior.hyper_mean, prior.covs[:1]))
    features, rewards = rng.standard_normal((30, 2)), rng.standard_normal(30)
    belief.observe(rng.integers(0, 3, 30), features, rewards)
    pooled.observe(np.zeros(30, np.intp), features, rewards)
    for task in range(3):
        np.testing.assert_allclose(belief.task(task).mean, pooled.task(0).mean, rtol=1e-12)
        np.testing.assert_allclose(belief.task(task).cov, pooled.task(0).cov, rtol=1e-11)
    draws = belief.sample(rng, [0, 1, 2])
    np.testing.assert_allclose(draws[1:], draws[[0, 0]], rtol=1e-12)


def test_draws_respect_what_is_certain():
    """Tasks differ along (1, 1) alone, so that theta_1 - theta_2 is the same in all of them."""
    rng = np.random.default_rng(1)
    prior = GaussianHierarchy(
        hyper_mean=[0.0, 0.0], hyper_cov=np.eye(2), task_cov=np.ones((2, 2)), noise_std=0.3
    )
    belief = Belief(prior, 4)
    belief.observe(rng.integers(0, 4, 50), rng.standard_normal((50, 2)), rng.standard_normal(50))
    draws = np.stack([belief.sample(rng, np.arange(4)) for _ in range(4000)])
    gap = draws[:, :, 0] - draws[:, :, 1]
    np.testing.assert_allclose(gap, gap[:, :1].repeat(4, axis=1), atol=1e-12)
    for task in range(4):
        posterior = belief.task(task)
        error = (draws[:, task].mean(axis=0) - posterior.mean) / (posterior.std / np.sqrt(4000))
        assert np.abs(error).max() < 6
        np.testing.assert_allclose(
            np.cov(draws[:, task].T), posterior.cov, atol=0.15 * posterior.cov.max()
        )


def test_a_revised_reward_and_a_file(tmp_path):
    rng = np.random.default_rng(2)
    loading = rng.standard_normal((3, 1))
    prior = GaussianHierarchy(
        hyper_mean=np.zeros(3), hyper_cov=np.eye(3), task_cov=loading @ loading.T, noise_std=0.4
    )
    belief, other = Belief(prior, 3), Belief(prior, 3)
    tasks, features, rewards = (
        rng.integers(0, 3, 20),
        rng.standard_normal((20, 3)),
        rng.standard_normal(20),
    )
    belief.observe(tasks, features, rewards)
    belief.revise(tasks[4], features[4], rewards[4], 2.5)
    other.observe(tasks, features, np.where(np.arange(20) == 4, 2.5, rewards))
    for task in range(3):
        np.testing.assert_allclose(belief.task(task).mean, other.task(task).mean, atol=1e-11)
    np.testing.assert_allclose(belief.log_evidence(), other.log_evidence(), rtol=1e-11)
    belief.save(tmp_path / "belief")
    assert belief_state(Belief.load(tmp_path / "belief")) == belief_state(belief)


@pytest.mark.parametrize("armed", [False, True])
def test_contributions_need_an_inverse(armed):
    blank = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=[0.5, 0.0], noise_std=1.0)
    if not armed:
        blank = GaussianHierarchy.linear(2, hyper_std=1.0, task_std=[0.5, 0.0], noise_std=1.0)
    with pytest.raises(ValueError, match="tasks must have a positive definite task_cov"):
        Belief(blank, 3).contribution([0, 1])
