"""What an agent hands over to another."""

import numpy as np
import pytest
from support.agent_lives import new_agent
from support.agents import ARMS, LINEAR

from hierbandits import Agent
from hierbandits.agent.agent_handover import AgentHandover


@pytest.mark.parametrize("form", ["armed", "deep-armed", "correlated"])
def test_another_agent_goes_on_from_it(form):
    agent, rng = new_agent(form, "HierTS", draws=5), np.random.default_rng(1)
    tasks = [("g", f"t{i}") if form == "deep-armed" else f"t{i}" for i in range(4)]
    for task in tasks * 3:
        decision = agent.decide(task)
        if rng.random() < 0.7:
            agent.reward(decision.id, rng.normal())
    agent.retire_arm("a")
    past = AgentHandover.of(agent)
    assert (past.rule, past.retired, past.draws) == ("HierTS", ["a"], 5)
    assert [one.id for one in past.pending] == [one.id for one in agent.pending]
    other = Agent(past.prior, past.rule, arms=past.arms)
    other.learn_past(past.tasks, past.sums)
    for task in tasks:
        np.testing.assert_allclose(
            agent.task_table(task)["mean"], other.task_table(task)["mean"], rtol=1e-9
        )
    event = past.decided(past.pending[0])
    assert event["time"] == past.pending[0].time
    assert event["decisions"][0]["id"] == past.pending[0].id


def test_arms_with_features_and_a_recipe_without_a_name():
    agent = Agent(LINEAR, arms=ARMS)
    assert AgentHandover.of(agent).arms == ARMS
    assert AgentHandover.of(Agent(LINEAR)).arms is None
