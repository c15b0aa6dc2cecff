"""What an agent shows of itself."""

import numpy as np
import pytest
from support.agents import ARMED, ARMS, DEEP, LINEAR

from hierbandits import Agent


def test_the_summary_lines_up():
    agent = Agent(DEEP, "HierTS", seed=0)
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


def test_the_card_of_a_notebook_begins_with_the_line():
    agent = Agent(ARMED, seed=0)
    agent.decide("store")
    assert repr(agent) in agent._repr_html_()
    assert "store" in agent._repr_html_()


def test_what_an_agent_shows_of_one_task_is_part_of_its_table():
    agent = Agent(ARMED, seed=0)
    for i in range(9):
        agent.reward(agent.decide(f"t{i % 3}").id, float(i))
    whole, one = agent.table(0.8), agent.task_table("t1", 0.8)
    rows = [row for row, task in enumerate(whole["task"]) if task == "t1"]
    for name, column in one.items():
        np.testing.assert_array_equal(column, [whole[name][row] for row in rows])
    with pytest.raises(ValueError, match="task"):
        agent.task_table("nobody")


def test_arms_are_all_that_the_agent_ever_had():
    agent = Agent(ARMED, arms=["a", "b", "c"])
    agent.add_arm("d")
    agent.retire_arm("a")
    assert agent.arms == ("a", "b", "c", "d")
    assert Agent(num_features=2).arms is None
    assert Agent(num_features=2, arms={"x": [0.0, 1.0]}).arms == ("x",)


def test_how_many_decisions_wait_and_which_arms_are_offered():
    agent = Agent(ARMED, arms=["a", "b", "c"], seed=0)
    ids = [agent.decide("t").id for _ in range(3)]
    agent.reward(ids[0], 1.0)
    agent.retire_arm("b")
    assert agent.num_pending == 2
    assert agent.offers == ("a", "c")
    assert Agent(LINEAR, arms=ARMS).offers == tuple(ARMS)
    assert Agent(LINEAR).offers is None


def test_arms_without_support_are_named_and_are_never_played():
    agent = Agent(ARMED, "HierUCB", arms=["a", "b", "c"], seed=0)
    for _ in range(5):
        agent.learn(["t"] * 3, ["a", "b", "c"], [3.0, 0.0, -3.0])
    assert agent.without_support(["t"]) == [("b", "c")]
    assert {agent.decide("t").arm for _ in range(20)} == {"a"}
    before = agent.summary()
    ids = Agent(ARMED, arms=["a", "b", "c"], seed=0)
    for never in ids.without_support(["new", "other"]):
        assert len(never) in (1, 2)  # of three arms one or two are in a mixture
    assert len(ids.tasks) == 0
    assert agent.summary() == before
    thompson = Agent(ARMED, "HierTS", arms=["a", "b", "c"], seed=0)
    assert thompson.without_support(["new"]) == [()]
