"""The E-step, against the dense joint posterior."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracle import full
from support.worlds import assert_close, worlds

from hierbandits import TaskSums
from hierbandits.fitting import expectation
from hierbandits.fitting.expectation import HierarchyParts, e_step


@dataclass
class Brute:
    """What the E-step gives, from the dense joint."""

    scatter: np.ndarray
    square: float
    hyper_scatter: np.ndarray
    steps: np.ndarray


def _brute(world, joint, about):
    d, m, populations = world.prior.dim, world.num_tasks, world.num_populations
    scatter, hyper, steps, square = np.zeros((d, d)), np.zeros((d, d)), np.zeros(d), 0.0
    difference = np.hstack([np.eye(d), -np.eye(d)])
    for s in range(m):
        mean, cov = joint.of(s, m + s // (m // populations))
        step = difference @ mean
        if (world.tasks == s).any():
            scatter += np.outer(step, step) + difference @ cov @ difference.T
    for p in range(populations):
        mean, cov = joint.of(m + p)
        hyper += np.outer(mean - about, mean - about) + cov
        steps += mean - world.prior.hyper_mean
    for task, x, y in zip(world.tasks, world.vectors(), world.rewards, strict=True):
        mean, cov = joint.of(task)
        square += (y - x @ mean) ** 2 + x @ cov @ x
    return Brute(scatter, square, hyper, steps)


@pytest.mark.parametrize("chunk", [expectation._CHUNK, 1])
@settings(max_examples=60)
@given(world=worlds(levels=st.just(2)), seed=st.integers(0, 2**32 - 1))
def test_the_e_step_matches_the_dense_joint(chunk, world, seed):
    prior = world.prior
    world.hyper_means = np.tile(prior.hyper_mean, (world.num_populations, 1))
    world.noise_std = np.full(len(world.rewards), prior.noise_std)
    sums = TaskSums.zeros(world.num_tasks, prior.dim, armed=prior.is_armed)
    sums.add(world.tasks, world.features, world.rewards)
    seen = np.flatnonzero(sums.n)
    kept = TaskSums(sums.xx[seen], sums.xy[seen], sums.yy[seen], sums.n[seen])
    hierarchy = HierarchyParts(
        prior.hyper_mean, prior.hyper_cov, prior.task_cov, prior.noise_std**2
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expectation, "_CHUNK", chunk)
        found = e_step(hierarchy, kept, seen // world.shape[0], world.num_populations)
    joint = world.joint()
    scale = np.sqrt(np.diagonal(full(prior.hyper_cov)).max())
    about = prior.hyper_mean + scale * np.random.default_rng(seed).standard_normal(prior.dim)
    brute = _brute(world, joint, about)

    def form(cov):  # independent arms have variances alone
        return np.diagonal(cov) if prior.is_diagonal else cov

    unit = max(1.0, np.abs(joint.log_evidence))
    assert_close(found.log_evidence, joint.log_evidence, scale=unit)
    assert_close(found.task_scatter(prior.task_cov), form(brute.scatter), rtol=1e-7)
    hyper = found.hyper_scatter(prior.hyper_cov, prior.hyper_mean, about)
    assert_close(hyper, form(brute.hyper_scatter), rtol=1e-7)
    assert_close(found.square, brute.square, scale=max(sums.yy.sum(), brute.square), rtol=1e-7)
    slope = np.linalg.solve(full(prior.hyper_cov), brute.steps)
    assert_close(found.hyper_mean_slope, slope, rtol=1e-5, scale=np.abs(slope).max() + 1 / scale)


@settings(max_examples=60)
@given(world=worlds(armed=True, levels=st.just(2)), seed=st.integers(0, 2**32 - 1))
def test_noises_of_arms_match_the_dense_joint(world, seed):
    prior, d = world.prior, world.prior.dim
    noises = prior.noise_std * np.random.default_rng(seed).uniform(0.3, 3.0, d)
    world.hyper_means = np.tile(prior.hyper_mean, (world.num_populations, 1))
    world.noise_std = noises[world.features]
    sums = TaskSums.zeros(world.num_tasks, d, armed=True)
    sums.add(world.tasks, world.features, world.rewards)
    squares = np.bincount(world.features, world.rewards**2, d)
    seen = np.flatnonzero(sums.n)
    hierarchy = HierarchyParts(prior.hyper_mean, prior.hyper_cov, prior.task_cov, noises**2)
    found = e_step(
        hierarchy, sums.rows(seen), seen // world.shape[0], world.num_populations, squares
    )
    joint = world.joint()
    assert_close(found.log_evidence, joint.log_evidence, scale=max(1.0, abs(joint.log_evidence)))
    brute = _brute(world, joint, prior.hyper_mean)
    scatter = np.diagonal(brute.scatter) if prior.is_diagonal else brute.scatter
    assert_close(found.task_scatter(prior.task_cov), scatter, rtol=1e-7)
    square = np.zeros(d)
    for task, arm, y in zip(world.tasks, world.features, world.rewards, strict=True):
        mean, cov = joint.of(task)
        square[arm] += (y - mean[arm]) ** 2 + cov[arm, arm]
    assert_close(found.square, square, scale=max(squares.sum(), square.sum()), rtol=1e-7)
    assert found.num_events.tolist() == np.bincount(world.features, minlength=d).tolist()
