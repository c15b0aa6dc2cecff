"""A belief from sums is the belief that observed the events."""

import numpy as np
import pytest
from hypothesis import given, settings
from support.states import largest_mean
from support.worlds import assert_close, worlds

from hierbandits import (
    Belief,
    GaussianHierarchy,
    TaskSums,
)


@settings(max_examples=60)
@given(worlds())
def test_from_sums_equals_observing(world):
    world.noise_std[:] = world.prior.noise_std
    world.hyper_means[:] = world.prior.hyper_mean
    halves = []
    for part in (slice(0, 9), slice(9, None)):
        sums = TaskSums.zeros(world.num_tasks, world.prior.dim, armed=world.prior.is_armed)
        sums.add(world.tasks[part], world.features[part], world.rewards[part])
        halves.append(sums)
    belief = world.observed()
    warm = Belief.from_sums(world.prior, halves[0] + halves[1], world.num_populations, world.shape)
    means = largest_mean(belief)
    for node in range(belief.num_nodes):
        assert_close(warm.task(node).mean, belief.task(node).mean, scale=means)
        assert_close(warm.task(node).cov, belief.task(node).cov)
    np.testing.assert_array_equal(warm.evidence.count, belief.evidence.count)
    scale = max(1.0, np.abs(belief.log_evidence()).max())
    assert_close(warm.evidence.log_var, belief.evidence.log_var, scale=scale)
    assert_close(warm.evidence.square, belief.evidence.square, scale=scale)
    warm.observe(world.tasks, world.features, world.rewards)  # and it goes on from there
    belief.observe(world.tasks, world.features, world.rewards)
    assert_close(warm.task(0).mean, belief.task(0).mean, scale=means)


def test_sums_of_no_tasks_and_of_nonsense():
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=0.3)
    empty = Belief.from_sums(prior, TaskSums.zeros(0, 2, armed=True), num_populations=3)
    np.testing.assert_array_equal(empty.log_evidence(), np.zeros(3))
    with pytest.raises(ValueError, match="num_populations must be a whole number of at least 1"):
        Belief.from_sums(prior, TaskSums.zeros(2, 2, armed=True), num_populations=0)
    sums = TaskSums.zeros(2, 2, armed=True)
    sums.xy[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"sums\.xy must be finite"):
        Belief.from_sums(prior, sums)
