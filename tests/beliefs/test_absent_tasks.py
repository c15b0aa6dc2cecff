"""Tasks that are kept elsewhere: what they tell, and what a belief knows that hears it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.shared_stores import PRIORS

import hierbandits as hb
from hierbandits.algebra import eigenvalues
from hierbandits.beliefs.absent_tasks import AbsentTasks, without
from hierbandits.beliefs.task_sums import TaskSums


def world(prior, num_tasks=8, events=60, seed=0):
    rng = np.random.default_rng(seed)
    tasks = rng.integers(num_tasks, size=events)
    armed = prior.is_armed
    features = rng.integers(prior.dim, size=events) if armed else rng.normal(size=(events, 2))
    sums = TaskSums.zeros(num_tasks, prior.dim, armed=armed)
    rewards = rng.normal(size=events)
    sums.add(tasks, features, rewards)
    whole = hb.Belief(prior, num_tasks)
    whole.observe(tasks, features, rewards)
    return sums, whole


@pytest.mark.parametrize("kind", PRIORS)
def test_what_tasks_tell_is_what_the_root_of_all_tasks_has_learned(kind):
    prior = PRIORS[kind]
    sums, whole = world(prior)
    absent = AbsentTasks.of(prior)
    told = absent.told_by(sums)
    hyper = hb.merge_contributions(prior, [told])
    assert_allclose(hyper.mean, whole.hyper().mean, rtol=0, atol=1e-12)
    assert_allclose(hyper.cov, whole.hyper().cov, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", PRIORS)
def test_a_belief_that_hears_the_others_knows_a_task_as_if_all_were_there(kind):
    prior = PRIORS[kind]
    sums, whole = world(prior)
    belief = hb.Belief(prior)
    absent = AbsentTasks(belief)
    told = absent.told_by(sums)
    for some in ([3], [1, 6]):
        rest = without(told, absent.told_by(sums.rows(some)))
        absent.leave()
        absent.hear(rest)
        nodes = belief.add(0, len(some))
        belief._raw_learn_past(nodes, sums.rows(some))
        for node, task in zip(nodes, some, strict=True):
            one, two = belief.task(int(node)), whole.task(task)
            assert_allclose(one.mean, two.mean, rtol=0, atol=1e-12)
            assert_allclose(one.cov, two.cov, rtol=0, atol=1e-12)
    absent.leave()
    assert belief.num_nodes == 1
    assert belief.num_rewards.sum() == 0
    assert_allclose(belief.hyper().mean, prior.hyper_mean)


@pytest.mark.parametrize("kind", PRIORS)
def test_nothing_is_left_of_a_task_that_was_alone(kind):
    prior = PRIORS[kind]
    absent = AbsentTasks.of(prior)
    told = absent.told_by(world(prior)[0])
    rest = without(told, told)
    hyper = hb.merge_contributions(prior, [rest])
    assert_allclose(hyper.mean, prior.hyper_mean, atol=1e-12)
    assert (eigenvalues(rest.precision) >= 0).all()
    assert not absent.nothing().precision.any()


def test_what_cannot_be_told_is_refused():
    singular = hb.GaussianHierarchy(
        hyper_mean=[0, 0], hyper_cov=np.eye(2), task_cov=np.diag([1.0, 0.0]), noise_std=1.0
    )
    with pytest.raises(ValueError, match="positive definite task_cov"):
        AbsentTasks.of(singular).told_by(TaskSums.zeros(1, 2))
    deep = hb.GaussianHierarchy.deep(hyper_mean=[0.0], covs=[[[1.0]]] * 3, noise_std=1.0)
    with pytest.raises(ValueError, match="one population of two levels, got 1 of 3"):
        AbsentTasks(hb.Belief(deep))
