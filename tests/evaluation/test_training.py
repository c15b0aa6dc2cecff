"""Beliefs that are trained on some rows of a log."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.logged import World, drawn_case, trained_on_all

from hierbandits import Belief, Columns, Log, TaskSums, evaluate, hieropo, learn_prior
from hierbandits.evaluation.training import Training
from hierbandits.fitting import fit_prior
from hierbandits.logs import Survey
from hierbandits.models.stated_covs import parts_in_common
from hierbandits.policies.recipes import POLICIES


def _learned(name, frame, survey, prior):
    """A policy of this name that has learned from these rows, in the numbering of a survey."""
    policy = POLICIES[name](prior, population=survey.population)
    tasks = [survey.tasks.index(task) for task in frame["task"]]
    policy.learn(tasks, [int(arm[1:]) for arm in frame["arm"]], frame["reward"].to_numpy())
    return policy


@pytest.mark.parametrize("name", ["HierTS", "TS", "PooledTS", "HierUCB", "LinUCB"])
def test_a_frozen_policy_knows_what_the_policy_itself_would(name):
    rng = np.random.default_rng(14)
    world = World.drawn(rng)
    frame = world.rows(rng, 150)
    prior = world.prior(hyper_mean=[0.3, -0.2, 0.1], task_std=[0.2, 0.5, 0.3])
    log = world.log(frame, population="group")  # populations of 4 and 2 tasks
    survey = Survey.of(log)
    posteriors = trained_on_all(log, prior).arm_posteriors(POLICIES[name])
    policy = _learned(name, frame, survey, prior)
    for task in range(6):
        expected = policy.predict(np.full(3, task), np.arange(3))
        assert_allclose(posteriors.prediction.mean[posteriors.row[task]], expected.mean, rtol=1e-8)
        assert_allclose(posteriors.prediction.std[posteriors.row[task]], expected.std, rtol=1e-8)


def test_a_prior_that_is_not_given_is_fitted():
    rng = np.random.default_rng(3)
    world, frame, features, _ = drawn_case(rng, linear=True)
    log = world.log(frame, population="group")
    table = np.array([features[arm] for arm in world.arms])
    training, survey = trained_on_all(log, None, table), Survey.of(log)
    x = table[[int(arm[1:]) for arm in frame["arm"]]]
    sums = TaskSums.zeros(6, 2)
    sums.add([survey.tasks.index(task) for task in frame["task"]], x, frame["reward"].to_numpy())
    fit = fit_prior(sums, population=survey.population)
    assert_allclose(training.prior.task_cov, fit.prior.task_cov, rtol=1e-6)
    belief = Belief.from_sums(training.prior, sums, population=survey.population)
    means = np.array([belief.task(s).mean for s in range(6)]) @ table.T
    assert_allclose(training.model().means, means, rtol=1e-8)


def test_arms_that_move_together_are_fitted_so():
    rng = np.random.default_rng(4)
    world = World.drawn(rng, tasks=40)
    world.values[:] = rng.normal(size=3) + rng.normal(size=(40, 1)) + 0.1 * rng.normal(size=(40, 3))
    prior = trained_on_all(world.log(world.rows(rng, 2000)), None).prior
    own, common = parts_in_common(prior.task_cov)
    assert common > 5 * own.max()
    assert prior.arms == ("a0", "a1", "a2")


def test_nothing_can_be_fitted_to_no_rows():
    world = World.drawn(np.random.default_rng(0))
    survey = Survey.of(world.log(world.rows(np.random.default_rng(1), 50)))
    none = TaskSums.zeros(survey.num_tasks, 3, armed=True)
    with pytest.raises(ValueError, match="log must have rows to train on"):
        Training.of(survey, 0, none, None, None)
    given = Training.of(survey, 0, none, world.prior(hyper_mean=0.3), None)
    assert_allclose(given.model().means, 0.3)


def test_a_prior_that_tells_arms_apart_needs_their_names(world, frame):
    unnamed = Log.read(frame, Columns(task="task", arm="arm", reward="reward", propensity="p"))
    apart = world.prior(hyper_mean=[0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match=r"give Log.read their names.*arms=\[\.\.\.\]"):
        evaluate(unnamed, "greedy", prior=apart)
    evaluate(unnamed, "greedy", prior=world.prior())
    evaluate(world.log(frame), "greedy", prior=apart)


def test_a_prior_that_names_its_arms_is_put_in_the_order_of_the_log(world, frame):
    unnamed = Log.read(frame, Columns(task="task", arm="arm", reward="reward", propensity="p"))
    means, order = [0.0, 1.0, 2.0], [2, 0, 1]
    apart = world.prior(hyper_mean=means, task_std=[0.1, 0.3, 0.9]).with_arms(world.arms)
    turned = apart.reordered([world.arms[place] for place in order])
    plain = evaluate(world.log(frame), "greedy", prior=apart.with_arms(None))
    for log in (unnamed, world.log(frame)):
        for prior in (apart, turned):
            evaluation = evaluate(log, "greedy", prior=prior)
            for method in ("ips", "dr"):
                expected = plain["greedy", method].value
                assert_allclose(evaluation["greedy", method].value, expected, rtol=1e-9)
    for names in (["a0", "a1", "b"], [0, 1, 2]):
        with pytest.raises(ValueError, match="prior must be of the log's arms: arms must be those"):
            evaluate(unnamed, "greedy", prior=apart.with_arms(names))


def test_a_prior_learned_from_the_log_is_refused(world, frame):
    columns = {"task": "task", "arm": "arm", "reward": "reward"}
    prior, report = learn_prior(frame, **columns, arms=world.arms, runs=0, held_out=0)
    for policies in ("greedy", "HierTS", "HierOPO", "uniform"):
        with pytest.raises(ValueError, match="prior must not be learned from the log that it is"):
            evaluate(world.log(frame), policies, prior=prior)
    with pytest.raises(ValueError, match="sums must not be the prior's own log"):
        hieropo(world.log(frame), prior=prior)
    evaluate(world.log(frame[:-1]), "greedy", prior=prior)
    evaluate(world.log(frame), "greedy", prior=report.before_log)


def test_a_fitted_prior_names_the_arms_of_the_log(world, frame):
    assert trained_on_all(world.log(frame), None).prior.arms == tuple(world.arms)
