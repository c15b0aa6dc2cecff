"""Policies in many worlds, each after the same log."""

import numpy as np
import pytest
from support.learn_logs import drawn, other_prior, sums_of
from support.oracle import full

from hierbandits import Agent, Belief, Start, UnknownWidths
from hierbandits.learning.log_worlds import LogWorlds
from hierbandits.learning.players import Player, Scene, after_sums
from hierbandits.models.variants import marginal, pooled
from hierbandits.policies.greedy_rule import greedy
from hierbandits.policies.policy import Policy
from hierbandits.policies.recipes import POLICIES
from hierbandits.policies.thompson_rule import thompson

NONE, SOME = np.zeros(0, np.intp), np.array([1, 4])


def case(armed, own):
    rows = drawn(6, armed=armed, tasks=6, events=8)
    return rows, other_prior(rows), Scene(sums_of(rows), own, 2, 3)


def known(player, task):
    """What a player knows of a task in each of three worlds."""
    return [player.policy.belief.task(int(player.nodes[2 * run + task])) for run in range(3)]


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("own", [NONE, SOME])
def test_after_the_log_all_is_as_in_one_belief_of_all_tasks(armed, own):
    rows, prior, scene = case(armed, own)
    right = Belief.from_sums(prior, sums_of(rows))
    tasks = own if own.size else right.add(int(right.roots[0]), 2)
    player = scene.after_log(prior, thompson)
    for place, task in enumerate(tasks.tolist()):
        for gaussian in known(player, place):
            np.testing.assert_allclose(gaussian.mean, right.task(task).mean, rtol=1e-8)
            np.testing.assert_allclose(gaussian.cov, right.task(task).cov, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("own", [NONE, SOME])
def test_a_start_is_played_as_an_agent_plays_it(own):
    rows, _, scene = case(True, own)
    prior = UnknownWidths.of(3, armed=True)
    agent = Agent(Start(prior, sums_of(rows), rows.names))
    player = scene.from_start(prior, POLICIES["AdaptiveHierTS"])
    for place in range(2):
        right = agent.belief.hyper(0)
        if own.size:
            right = agent.belief.task(agent.node(rows.names[own[place]]))
        extra = 0 if own.size else full(agent.belief.hierarchy().task_cov)
        for gaussian in known(player, place):
            np.testing.assert_allclose(gaussian.mean, right.mean, rtol=1e-8)
            np.testing.assert_allclose(gaussian.cov, right.cov + extra, rtol=1e-6)


def test_others_know_what_they_are_told():
    rows, prior, scene = case(True, SOME)
    alone = Belief.from_sums(marginal(prior), sums_of(rows))
    for place, task in enumerate(SOME.tolist()):
        for gaussian in known(scene.told(marginal(prior), thompson), place):
            np.testing.assert_allclose(gaussian.mean, alone.task(task).mean, rtol=1e-8)
    one = Belief.from_sums(pooled(prior), sums_of(rows), population=np.zeros(6, np.intp)).hyper(0)
    player = scene.as_one(after_sums(pooled(prior), sums_of(rows)), thompson)
    for gaussian in known(player, 0) + known(player, 1):
        np.testing.assert_allclose(gaussian.mean, one.mean, rtol=1e-8)
    nothing = scene.from_nothing(UnknownWidths.of(3, armed=True), POLICIES["AdaptiveHierTS"])
    assert nothing.policy.belief.num_rewards.tolist() == [0, 0, 0]
    assert np.unique(nothing.nodes).size == 6


def test_sums_of_nothing_change_no_hierarchy():
    rows, prior, _ = case(False, NONE)
    assert after_sums(prior, sums_of(rows).rows(np.arange(0))) is prior


def test_regret_is_added_up_task_by_task():
    prior = other_prior(drawn(6, armed=True)).with_levels(
        np.array([0.0, 1.0, 0.5]), [np.full(3, 1e-9), np.full(3, 1e-9)]
    )
    theta = np.array([[[1.0, 0.0, 0.0], [3.0, 0.0, 0.0]], [[0.0, 2.0, 0.0], [0.0, 1.0, 0.0]]])
    worlds = LogWorlds(theta, np.ones(2), None, 0)
    # It always plays arm 1.
    player = Player(Policy(Belief(prior, 2, 2), greedy), np.arange(4), learns=False)
    curve = player.regret(np.random.default_rng(0), worlds, 3)
    each = np.array([[1.0, 3.0], [0.0, 0.0]])  # of two tasks in two worlds
    np.testing.assert_allclose(curve, [each, 2 * each, 3 * each])
    assert not player.policy.belief.num_rewards.any()
    learner = Player(Policy(Belief(prior, 2, 2), greedy), np.arange(4))
    learner.regret(np.random.default_rng(0), worlds, 3)
    assert learner.policy.belief.num_rewards.tolist() == [6, 6]
