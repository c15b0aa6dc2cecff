"""Rules that have stopped learning: probabilities that stay."""

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose
from support.logged import drawn_case, trained_on_all
from support.rules import rewarded_belief

from hierbandits.keyed_random import Stream
from hierbandits.policies import Greedy, Ids, Ucb
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.frozen_rules import HighestBound, evenly
from hierbandits.policies.recipes import POLICIES
from hierbandits.policies.thompson_rule import Thompson


def _shares_by_acting(posteriors, eligible, times, rng):
    """How often a Thompson policy at this belief plays each arm."""
    belief, policy = posteriors.belief, POLICIES["HierTS"]
    actor = policy(belief._nodes.levels.hierarchies[0])
    actor.belief = belief
    counts = np.zeros(eligible.shape)
    arms = None if posteriors.table is None else posteriors.table
    for task in range(len(eligible)):
        for _ in range(times):
            choice = actor.act(rng, [task], arms, eligible[task])[0]
            counts[task, choice] += 1
    return counts / times


@pytest.mark.parametrize("linear", [False, True])
def test_frozen_thompson_plays_as_often_as_the_policy_itself_does(linear):
    rng = np.random.default_rng(8)
    world, frame, features, prior = drawn_case(rng, linear)
    x = None if not linear else np.array([features[f"a{i}"] for i in range(4)])
    training = trained_on_all(world.log(frame), prior, x)
    posteriors = training.arm_posteriors(POLICIES["HierTS"])
    shares = Thompson().frozen(posteriors, 20_000, Stream(0, "test"))
    eligible = np.ones((6, 4), bool)
    eligible[0, 2] = eligible[3, 1] = False
    got = shares(np.arange(6), eligible)
    assert (got[~eligible] == 0).all()
    assert_allclose(got.sum(axis=1), 1)
    acted = _shares_by_acting(posteriors, eligible, 400, rng)
    error = np.sqrt(np.maximum(got * (1 - got), 1e-3) / 400)
    assert (np.abs(acted - got) < 5 * error).all()
    again = shares(np.array([5, 5, 0]), eligible[[5, 5, 0]])
    assert_allclose(again, got[[5, 5, 0]], atol=0)
    pair = np.zeros((1, 4), bool)
    pair[0, [0, 3]] = True  # two arms: the exact probability
    gap = training.model().belief.task(2)
    along = np.zeros(4) if x is None else x[0] - x[3]
    if x is None:
        along[[0, 3]] = 1, -1
    exact = scipy.stats.norm.cdf(along @ gap.mean / np.sqrt(along @ gap.cov @ along))
    assert abs(shares(np.array([2]), pair)[0, 0] - exact) < 5 * np.sqrt(0.25 / 20_000)


def test_the_highest_bound_is_played_and_equal_ones_share():
    bound = np.array([[1.0, 3.0, 2.0], [2.0, 2.0, 0.0]])
    policy = HighestBound(bound, np.array([1, 0, 0]))
    eligible = np.array([[True, True, True], [True, True, True], [True, False, True]])
    shares = policy(np.array([0, 1, 2]), eligible)
    assert shares.tolist() == [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert evenly(np.array([0]), eligible[2:]).tolist() == [[0.5, 0.0, 0.5]]


@pytest.mark.parametrize("rule", [Thompson(), Greedy(), Ucb(1.0, 0.2), Ids(4)])
def test_a_frozen_rule_refuses_tasks_and_masks_that_do_not_fit(rule):
    posteriors = ArmPosteriors.of(rewarded_belief(True), None, np.arange(3))
    shares, every = rule.frozen(posteriors, 8, Stream(0, "test")), np.ones((2, 3), bool)
    np.testing.assert_allclose(shares(np.array([0, 2]), every).sum(axis=1), 1.0)
    for tasks, eligible, message in (
        ([0, 3], every, "tasks must be in"),
        ([0, 1], np.ones((2, 5), bool), r"eligible must be booleans of shape \(2, 3\)"),
        ([0], every, "eligible must be booleans"),
        ([0, 1], every.astype(int), "eligible must be booleans"),
        ([0, 1], np.array([[True] * 3, [False] * 3]), "eligible must leave an arm, got none for"),
    ):
        with pytest.raises(ValueError, match=message):
            shares(np.array(tasks), eligible)


def test_posteriors_are_of_nodes_that_a_belief_has():
    with pytest.raises(ValueError, match="nodes must be in"):
        ArmPosteriors.of(rewarded_belief(True), None, np.arange(30))
