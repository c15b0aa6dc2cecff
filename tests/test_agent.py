"""The agent: names, ids, late rewards and reports."""

import os

import numpy as np
import pytest
from support.agents import ARMED, ARMS, DEEP, LINEAR, Clock, state

from hierbandits import (
    Agent,
    Belief,
    GaussianHierarchy,
    RewardConflict,
    UnknownDecision,
)


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
        (["a", "nope"], [1.0, 1.0], UnknownDecision, "decisions not expired, got 'nope'"),
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
        (LINEAR, "t", {"a": [1.0, 2.0], "b": [1.0]}, {}, "arms must be an array"),
        (LINEAR, "t", ["low"], {}, "arms are not known by name"),
        (LINEAR, "t", 5, {}, "arms must"),
        (LINEAR, "t", [[1.0, 2.0], [1.0]], {}, "arms must be an array"),
        (ARMED, "t", "01", {}, "arms must be several names"),
        (ARMED, "t", [0, 0], {}, "arms must be distinct"),
        (ARMED, "t", ARMS, {}, "arms must be names or indices when armed"),
        (ARMED, "t", [3], {}, "arms must name arms of this agent"),
        (ARMED, "t", ["low"], {}, "arms must name arms of this agent .*got 'low'"),
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


def test_arms_in_every_form():
    agent = Agent(LINEAR, seed=0, arms=ARMS)
    assert agent.decide("t").arm in ARMS
    assert agent.decide("t", ["high"]).arm == "high"
    assert agent.decide("t", np.array([[1.0, 2.0]])).arm == 0
    assert agent.decide("t", [[1, 2], [3, 4]]).arm in (0, 1)
    assert agent.decide("t", {"only": [1, 2]}).arm == "only"
    assert agent.decide("t", np.eye(2), eligible=[False, True]).arm == 1
    numbered = Agent(LINEAR, seed=0, arms=np.eye(2))
    assert numbered.decide("t", [1]).arm == 1
    armed = Agent(ARMED, seed=0)
    assert armed.decide("t").arm in (0, 1, 2)
    assert armed.decide("t", [2]).features == 2
    named = Agent(ARMED, seed=0, arms=["a", "b", "c"])
    decision = named.decide("t", ["c"])
    assert (decision.arm, decision.features) == ("c", 2)


def test_a_round_takes_one_offer_or_one_for_each_task():
    agent = Agent(LINEAR, seed=0, arms=ARMS)
    assert [d.arm for d in agent.decide_many(["a", "b"], ["mid"])] == ["mid", "mid"]
    each = agent.decide_many(["a", "b", "c", 4], [["low"], ["mid", "high"], None, {"new": [1, 1]}])
    assert each[0].arm == "low"
    assert each[1].arm in ("mid", "high")
    assert each[2].arm in ARMS
    assert (each[3].arm, each[3].task) == ("new", 4)
    ragged = agent.decide_many(["a", "b"], [np.eye(2)[:1], np.eye(2)])
    assert ragged[0].arm == 0
    assert agent.decide_many([], ARMS) == []
    with pytest.raises(ValueError, match="one set for each task, got 1"):
        agent.decide_many(["a", "b"], [ARMS])
    armed = Agent(ARMED, seed=0, arms=["a", "b", "c"])
    assert [d.arm for d in armed.decide_many([1, 2], [["a"], ["c"]])] == ["a", "c"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "UCB"}, "policy must be one of HierTS, .*got 'UCB'"),
        ({"policy": "OracleTS"}, "policy must not need the truth"),
        ({"arms": ["a", "b"]}, "arms must name the 3 arms of the prior, got 2"),
        ({"arms": ["a", "b", "a"]}, "arms must have distinct names"),
        ({"arms": ["a", "b", 1.5]}, "arms must be named by strings or integers"),
        ({"floor": 0.1}, "floor needs propensities"),
        ({"draws": 0}, "draws must be a whole number of at least 1"),
        ({"draws": 5, "policy": "HierUCB"}, "thompson rule"),
        ({"draws": 5, "floor": 2.0}, "floor must be in"),
        ({"policy": 5}, "policy must be one of"),
        ({"prior": None}, "prior must be given, or num_features, or arms"),
        ({"prior": 3.0}, "prior must be a GaussianHierarchy, got 3.0"),
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


def test_names_keep_their_type_and_paths_make_groups():
    agent = Agent(ARMED, seed=0)
    agent.decide_many([1, "1", np.int64(1)])
    assert agent.tasks == [1, "1"]
    deep = Agent(DEEP, seed=0)
    deep.decide_many([("n", 1), ("n", 2), ("s", 1)], ARMS)
    assert deep.tasks == [("n", 1), ("n", 2), ("s", 1)]
    north, north_too, south = (deep.belief.forest.path(deep.node(t))[1] for t in deep.tasks)
    assert north == north_too != south
    for flat in ("TS", "PooledTS", "LinUCB"):
        agent = Agent(DEEP, flat, seed=0)
        agent.decide_many([("n", 1), ("s", 1)], ARMS)
        assert agent.tasks == [("n", 1), ("s", 1)]
    with pytest.raises(ValueError, match="task must be one that the agent has met"):
        agent.node(("n", 7))


def test_ids_never_repeat_and_leave_the_random_state_alone():
    agent, other = Agent(ARMED, seed=0), Agent(ARMED, seed=0)
    ids = [agent.decide("t").id for _ in range(200)]
    assert len(set(ids)) == 200
    for i in range(200):
        other.decide("t", id=str(i))
    assert agent._rng.bit_generator.state == other._rng.bit_generator.state
    assert [d.arm for d in agent.pending] == [d.arm for d in other.pending]


def test_a_forked_process_makes_ids_of_its_own():
    agent = Agent(ARMED, seed=0)
    agent.decide("t")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, agent.decide("t").id.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 100).decode() != agent.decide("t").id


def test_decisions_are_equal_by_id():
    agent = Agent(LINEAR, seed=0)
    one, other = agent.decide("t", ARMS), agent.decide("t", ARMS)
    assert one == agent.pending[0]
    assert one != other
    assert one in agent.pending
    assert len({one, other, agent.pending[1]}) == 2


def test_a_string_is_not_several_tasks():
    with pytest.raises(ValueError, match="tasks must be several tasks, got the string 'store'"):
        Agent(ARMED).decide_many("store")


def test_a_clock_that_fails_leaves_nothing_half_done():
    agent = Agent(ARMED, seed=0)
    decision = agent.decide("t")
    agent._clock = lambda: 1 / 0
    before = state(agent)
    with pytest.raises(ZeroDivisionError):
        agent.reward(decision.id, 1.0)
    with pytest.raises(ZeroDivisionError):
        agent.decide("new")
    assert state(agent) == before
    assert agent.belief.evidence.count.sum() == 0


def test_old_decisions_expire_on_request():
    clock = Clock()
    agent = Agent(ARMED, seed=0, clock=clock)
    for i in range(4):
        agent.decide("t", id=f"d{i}")
        clock.now += 10
    agent.reward("d0", 1.0)  # at 1040
    clock.now += 5  # 1045: d1 is 35 old, d2 25, d3 15
    assert agent.expire(30) == ["d1"]
    assert [d.id for d in agent.pending] == ["d2", "d3"]
    with pytest.raises(UnknownDecision):
        agent.reward("d1", 1.0)
    assert agent.reward("d0", 1.0) is False
    clock.now += 100
    assert agent.expire(30) == ["d2", "d3"]
    with pytest.raises(UnknownDecision):
        agent.reward("d0", 1.0)  # its memory has gone too
    with pytest.raises(ValueError, match="older_than must be finite"):
        agent.expire(np.nan)


def test_what_a_decision_was_for_cannot_be_changed():
    agent = Agent(LINEAR, seed=0)
    arms = np.array([[1.0, 2.0]])
    decision = agent.decide("t", arms)
    arms[:] = 9.0
    assert decision.features.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        decision.features[0] = 9.0
    with pytest.raises(AttributeError):
        decision.arm = 1


def test_the_agents_own_arms_are_a_copy():
    arms = np.array([[1.0, 2.0]])
    agent = Agent(LINEAR, seed=0, arms=arms)
    arms[:] = 9.0
    assert agent.decide("t").features.tolist() == [1.0, 2.0]


# Reports


def test_the_table_shows_each_tasks_posterior():
    agent = Agent(ARMED, seed=0, arms=["a", "b", "c"])
    for i in range(30):
        decision = agent.decide(f"t{i % 2}")
        agent.reward(decision.id, float(i))
    table = agent.table(confidence=0.8)
    assert table["task"] == ["t0"] * 3 + ["t1"] * 3
    assert table["arm"] == ["a", "b", "c"] * 2
    assert table["decisions"] == table["rewards"] == [15] * 6
    for row in range(6):
        found = agent.belief.task(agent.node(table["task"][row]))
        split = agent.belief.uncertainty(agent.node(table["task"][row]))
        i = row % 3
        assert table["mean"][row] == pytest.approx(found.mean[i])
        assert table["within_var"][row] == pytest.approx(split.within[i, i])
        assert table["shared_var"][row] == pytest.approx(split.shared[i, i])
        half = 1.2815515655 * found.std[i]
        assert table["low"][row] == pytest.approx(found.mean[i] - half)
        assert table["high"][row] == pytest.approx(found.mean[i] + half)
    with pytest.raises(ValueError, match="confidence must be in"):
        agent.table(confidence=1.0)


def test_the_summary_lines_up():
    agent = Agent(DEEP, seed=0)
    for i in range(6):
        agent.decide(("north", f"store-{i}"), ARMS)
    text = agent.summary(max_rows=5)
    lines = text.splitlines()
    assert lines[0] == "Agent(HierTS, 2 features, 6 tasks, 6 decisions, 0 rewarded, 6 pending)"
    assert lines[1].split()[:3] == ["task", "feature", "decisions"]
    assert lines[2].startswith("north/store-0")
    assert lines[-1] == "... and 7 rows more"
    assert len({len(line) for line in lines[1:-1]}) == 1
    assert "0 tasks" in Agent(ARMED).summary()
    with pytest.raises(ValueError, match="max_rows must be a whole number"):
        agent.summary(max_rows=-1)
