"""Agents without a prior: they learn the widths and the noise as they go."""

import numpy as np
import pytest
from support.agents import state

from hierbandits import Agent, TaskSums


def test_agents_without_a_prior_learn_their_widths():
    rng = np.random.default_rng(13)
    named = Agent(arms=["low", "medium", "high"], seed=0)
    vectors = Agent(arms={"a": [1.0, 0.0], "b": [0.0, 2.0]}, seed=0)
    table = Agent(arms=np.eye(4), seed=0)
    free = Agent(num_features=2, seed=0)
    for agent, armed, dim in ((named, True, 3), (vectors, False, 2), (table, False, 4)):
        assert (agent.prior.is_armed, agent.prior.dim) == (armed, dim)
        assert not agent.prior.widths_known
        assert "HierIDS" in repr(agent)
        for step in range(30):
            decision = agent.decide(f"store-{step % 4}")
            agent.reward(decision.id, 1e6 * rng.normal())
        assert agent.table()["mean"]
    decision = free.decide("store", np.eye(2))
    assert free.reward(decision.id, 1e-6)
    upper = Agent(arms=["low", "high"], policy="HierUCB", seed=0)
    assert upper.reward(upper.decide("store").id, 1.0)


def test_an_agent_finds_the_best_arm_whatever_the_rewards_look_like():
    rng = np.random.default_rng(14)
    for offset, scale in ((0.0, 1.0), (5e3, 10.0), (0.0, 1e-12), (-3e7, 1e6)):
        agent = Agent(arms=["a", "b", "c"], seed=1)
        values = offset + scale * np.array([0.0, 1.0, 0.3])
        for step in range(600):
            decision = agent.decide(step % 10)
            agent.reward(decision.id, values[decision.features] + scale * rng.normal())
        last = [agent.decide(step % 10).arm for step in range(100)]
        assert last.count("b") > 80


def test_what_is_refused_changes_nothing():
    agent = Agent(arms=["a", "b", "c"], seed=0)
    for step in range(40):
        agent.reward(agent.decide(step % 3, id=str(step)).id, float(step % 5))
    agent.decide(0, id="waiting")
    before = state(agent)
    for ids, values, message in (
        (["waiting"], [np.nan], "values must be finite"),
        (["waiting", "7"], [1.0, 9.0], "'7' has the reward 2.0, got 9.0"),
        (["waiting", "waiting"], [1.0, 2.0], "'waiting' has the reward 1.0, got 2.0"),
    ):
        with pytest.raises(ValueError, match=message):
            agent.reward_many(ids, values)
    for arms in (["a", "z"], [[1.0, 2.0, 3.0]]):
        with pytest.raises(ValueError, match="arms must"):
            agent.decide("new", arms)
    with pytest.raises(ValueError, match="sums must be learned before all rewards"):
        agent.learn_past(["new"], TaskSums.zeros(1, 3, armed=True))
    assert state(agent) == before
