"""The agent: names, ids, late rewards and reports."""

import numpy as np
import pytest
from support.agents import ARMED, ARMS, DEEP, LINEAR, state

from hierbandits import (
    Agent,
    Belief,
    GaussianHierarchy,
    Recipe,
    RewardConflict,
    UnknownDecision,
)
from hierbandits.models.variants import as_given


def first_arm(view, rng, nodes, arms, /):
    return np.zeros(nodes.size, np.intp)


def test_the_story_of_the_readme():
    agent = Agent(LINEAR, seed=0)
    decision = agent.decide("store-17", ARMS)
    assert decision.task == "store-17"
    assert decision.arm in ARMS
    np.testing.assert_array_equal(decision.features, ARMS[decision.arm])
    assert decision.propensity is None
    assert agent.reward(decision.id, 0.8) is True
    assert agent.reward(decision.id, 0.8) is False
    reference = Belief(LINEAR, 1)
    reference.observe([0], [ARMS[decision.arm]], [0.8])
    np.testing.assert_array_equal(
        agent.belief.task(agent.node("store-17")).mean, reference.task(0).mean
    )


def test_rewards_late_shuffled_and_repeated_give_the_same_belief():
    rng = np.random.default_rng(0)
    agent, ordered = Agent(LINEAR, seed=1), Agent(LINEAR, seed=1)
    decisions = [agent.decide(f"t{i % 5}", ARMS, id=f"d{i}") for i in range(60)]
    values = rng.standard_normal(60)
    for i in range(60):
        ordered.decide(f"t{i % 5}", ARMS, id=f"d{i}")
    ordered.reward_many([d.id for d in decisions], values)
    for i in rng.permutation(60):
        assert agent.reward(decisions[i].id, values[i]) is True
        assert agent.reward(decisions[i].id, values[i]) is False
    for task in range(5):
        one, other = (a.belief.task(a.node(f"t{task}")) for a in (agent, ordered))
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-10)
        np.testing.assert_allclose(one.cov, other.cov, rtol=1e-10)


@pytest.mark.parametrize(
    ("ids", "values", "error", "message"),
    [
        (["a", "b"], [1.0, np.nan], ValueError, r"values must be finite.* nan at \[1\]"),
        (["a", "b"], [1.0, np.inf], ValueError, "values must be finite"),
        (["a", "b"], [1.0], ValueError, r"values must have shape \(2,\) to match ids"),
        (["a", "nope"], [1.0, 1.0], UnknownDecision, "are not forgotten, got 'nope'"),
        (["a", 7], [1.0, 1.0], UnknownDecision, "ids must be strings, got 7"),
        (["a", ["b"]], [1.0, 1.0], UnknownDecision, "ids must be strings"),
        (["a", "done"], [1.0, 2.0], RewardConflict, "'done' has the reward 5.0, got 2.0"),
        (["a", "a"], [1.0, 2.0], RewardConflict, "'a' has the reward 1.0, got 2.0"),
    ],
)
def test_one_bad_reward_and_none_is_learned(ids, values, error, message):
    agent = Agent(ARMED, seed=0)
    agent.decide_many(["x", "y", "x"], ids=["a", "b", "done"])
    agent.reward("done", 5.0)
    before = state(agent)
    with pytest.raises(error, match=message):
        agent.reward_many(ids, values)
    assert state(agent) == before
    assert agent.reward_many(["a", "b", "a", "done"], [1.0, 2.0, 1.0, 5.0]) == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("prior", "task", "arms", "more", "message"),
    [
        (LINEAR, 1.5, ARMS, {}, "task must be a string or an integer, got 1.5"),
        (LINEAR, None, ARMS, {}, "task must be a string or an integer, got None"),
        (LINEAR, True, ARMS, {}, "task must be"),
        (LINEAR, ("a", "b"), ARMS, {}, "task must be"),
        (DEEP, "a", ARMS, {}, "task must be a tuple of 2 strings or integers, got 'a'"),
        (LINEAR, "t", None, {}, "arms must be given"),
        (LINEAR, "t", {}, {}, "arms must"),
        (LINEAR, "t", [], {}, "arms"),
        (LINEAR, "t", {"a": [1.0]}, {}, r"arms must have shape \(any, 2\)"),
        (LINEAR, "t", {"a": [1.0, np.nan]}, {}, "arms must be finite"),
        (
            LINEAR,
            "t",
            {"a": [1.0, 2.0], "b": [1.0]},
            {},
            "arms must be numbers in rows of one length",
        ),
        (LINEAR, "t", ["low"], {}, "arms are not known by name"),
        (LINEAR, "t", 5, {}, "arms must"),
        (LINEAR, "t", [[1.0, 2.0], [1.0]], {}, "arms must be numbers in rows of one length"),
        (ARMED, "t", "01", {}, "arms must be several names"),
        (ARMED, "t", [0, 0], {}, "arms must be distinct"),
        (ARMED, "t", ARMS, {}, "arms must be names or indices when armed"),
        (ARMED, "t", [3], {}, "arms must be arms of this agent"),
        (ARMED, "t", ["low"], {}, "arms must be arms of this agent .*got 'low'"),
        (ARMED, "t", None, {"id": "taken"}, "ids must be new, got 'taken'"),
        (ARMED, "t", None, {"id": "settled"}, "ids must be new, got 'settled'"),
        (ARMED, "t", None, {"id": ""}, "ids must be non-empty strings"),
        (ARMED, "t", None, {"id": 5}, "ids must be non-empty strings"),
        (ARMED, "t", None, {"eligible": [False] * 3}, "eligible must leave an arm"),
    ],
)
def test_a_bad_decision_changes_nothing(prior, task, arms, more, message):
    agent = Agent(prior, seed=0)
    first = ("r", "s") if prior is DEEP else "s"
    offered = None if prior is ARMED else ARMS
    agent.decide(first, offered, id="taken")
    agent.decide(first, offered, id="settled")
    agent.reward("settled", 1.0)
    before = state(agent)
    with pytest.raises(ValueError, match=message):
        agent.decide(task, arms, **more)
    assert state(agent) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "UCB"}, "policy must be one of HierTS, .*got 'UCB'"),
        ({"policy": "OracleTS"}, "policy must not need the truth"),
        ({"arms": ["a", "b"]}, "arms must name the 3 arms of the prior, got 2"),
        ({"arms": ["a", "b", "a"]}, "arms must have distinct names"),
        ({"arms": ["a", "b", 1.5]}, "arms must be named by strings or integers"),
        ({"floor": -0.1}, "floor must be in"),
        ({"draws": -1}, "draws must be a whole number of at least 1"),
        ({"draws": 5, "policy": Recipe(as_given, first_arm, "mine")}, "must have a method odds"),
        ({"draws": 5, "floor": 2.0}, "floor must be in"),
        ({"policy": 5}, "policy must be one of"),
        ({"prior": None}, "prior must be given, or num_features, or arms"),
        (
            {"prior": 3.0},
            "prior must be a GaussianHierarchy or UnknownWidths or .*, got 3.0",
        ),
        ({"num_features": 2}, "num_features must not be given with a prior"),
        ({"prior": None, "num_features": 0}, "num_features must be a whole number of at least 1"),
        ({"prior": None, "arms": "abc"}, "arms must be several arms"),
        ({"prior": None, "arms": ["a", "b"], "policy": "TS"}, "prior must be a GaussianHierarchy"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        Agent(**({"prior": ARMED} | options))


def test_an_agent_needs_tasks_below_the_root():
    flat = GaussianHierarchy.deep(hyper_mean=[0.0], covs=[[[1.0]]], noise_std=1.0)
    with pytest.raises(ValueError, match="a level of tasks below its root"):
        Agent(flat)


def test_a_string_is_not_several_tasks():
    with pytest.raises(ValueError, match="tasks must be several tasks, got 'store'"):
        Agent(ARMED).decide_many("store")


def test_a_clock_that_fails_leaves_nothing_half_done():
    agent = Agent(ARMED, seed=0)
    decision = agent.decide("t")
    agent._books.clock = lambda: 1 / 0
    before = state(agent)
    with pytest.raises(ZeroDivisionError):
        agent.reward(decision.id, 1.0)
    with pytest.raises(ZeroDivisionError):
        agent.decide("new")
    assert state(agent) == before
    assert agent.belief.evidence.count.sum() == 0
