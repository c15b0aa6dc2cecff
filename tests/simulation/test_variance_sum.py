"""V(m, n): the played arms' variances, in all tasks and in the explored ones."""

from zlib import crc32

import numpy as np
import pytest
from support.environments import ENVIRONMENTS
from support.oracle import random_cov
from support.plain_simulation import plain_simulation

from hierbandits import POLICIES, GaussianHierarchy, simulate
from hierbandits.beliefs.gaussian import Prediction
from hierbandits.environments import ActionSets, HierarchicalBandit
from hierbandits.environments.events import Events
from hierbandits.policies.arms import Arms
from hierbandits.simulation.schedules import Concurrent, Federated
from hierbandits.simulation.variance_sum import VarianceSum


def test_the_sum_of_posterior_variances():
    """V(m, n) recomputed by a policy stepped by hand, in all tasks and in the explored ones."""
    rng = np.random.default_rng(0)
    prior = GaussianHierarchy(
        hyper_mean=np.zeros(2),
        hyper_cov=random_cov(rng, 2),
        task_cov=random_cov(rng, 2, 0.3),
        noise_std=0.5,
    )
    environment = HierarchicalBandit(hierarchy=prior, num_tasks=3, actions=ActionSets(5))
    study = simulate(
        environment, ["HierTS-forced"], Federated(), runs=4, num_interactions=9, variance=True
    )
    outcome = study.outcomes["HierTS-forced"]
    worlds = environment.worlds(np.random.default_rng([0, 0, 0]), 0, 0, 4)
    policy = POLICIES["HierTS-forced"](prior, 3, 4)
    choose = np.random.default_rng([0, 0, 1, crc32(b"HierTS-forced")])
    run, task = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    total, explored = np.zeros(4), np.zeros(4)
    for t in range(9):
        events = Events(run, task, np.full(12, t))
        arms = worlds.offer(events)
        choices = policy.act(choose, run * 3 + task, arms)
        x = arms.features(choices)
        for e in range(12):
            var = x[e] @ policy.belief.task(run[e] * 3 + task[e]).cov @ x[e]
            total[run[e]] += var
            explored[run[e]] += var * (t >= 2)  # after the forced start of d arms
        policy.learn(run * 3 + task, x, worlds.play(events, arms, choices)[0])
    np.testing.assert_allclose(outcome.variance, total, rtol=1e-9)
    np.testing.assert_allclose(outcome.explored, explored, rtol=1e-9)


@pytest.mark.parametrize("policy", ["HierTS", "TS", "OracleTS", "PooledTS"])
@pytest.mark.parametrize("name", ["armed", "linear, arms per round"])
def test_variances_are_those_that_the_policy_itself_predicts(policy, name):
    options = {"runs": 3, "num_interactions": 5}
    study = simulate(ENVIRONMENTS[name], [policy], Concurrent(2), variance=True, **options)
    plain = plain_simulation(ENVIRONMENTS[name], policy, Concurrent(2), **options)
    np.testing.assert_allclose(study.outcomes[policy].variance, plain.variance, rtol=1e-9)


def test_a_k_armed_task_is_explored_after_k_distinct_arms():
    """A variance of 1 for every event: the sums count events, all and explored."""
    sums = VarianceSum(1, 2)
    one = np.ones(1)
    for arm, task, explored in [
        (0, 0, 0), (1, 0, 0), (1, 0, 0), (2, 0, 0), (0, 0, 1), (0, 1, 1), (1, 0, 2),
    ]:  # fmt: skip
        arms = Arms.of(None, 1, 3, armed=True)
        run, at = np.zeros(1, int), np.array([task])
        sums.add(run, at, arms, np.array([arm]), Prediction(one, 0.25 * one, 0.75 * one))
        assert sums.explored.tolist() == [explored]
    assert sums.total.tolist() == [7]


def test_a_task_whose_first_arms_do_not_span_is_never_explored():
    """Not even if arms of later rounds span R^d."""
    sums, one, zero = VarianceSum(1, 1), np.ones(1), np.zeros(1, int)
    flat, spanning = np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([[3.0, 0.0], [0.0, 3.0]])
    for table, row in [(flat, 0), (spanning, 0), (spanning, 1), (spanning, 0), (spanning, 1)]:
        arms = Arms.of(table, 1, 2, armed=False)
        sums.add(zero, zero, arms, table[[row]], Prediction(one, one, one))
    assert (sums.total.tolist(), sums.explored.tolist()) == ([10], [0])
