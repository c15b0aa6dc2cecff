"""The table of what an agent knows, as columns and as text."""

import pytest
from support.agents import ARMED

from hierbandits import Agent
from hierbandits.agent.posterior_table import summary_text


def test_the_table_shows_each_tasks_posterior():
    agent = Agent(ARMED, seed=0, arms=["a", "b", "c"])
    played = []
    for i in range(30):
        decision = agent.decide(f"t{i % 2}")
        agent.reward(decision.id, float(i))
        played.append((decision.task, decision.arm))
    table = agent.table(confidence=0.8)
    assert table["task"] == ["t0"] * 3 + ["t1"] * 3
    assert table["arm"] == ["a", "b", "c"] * 2
    assert table["decisions"] == [15] * 6
    assert table["rewards"] == [played.count((t, arm)) for t in ("t0", "t1") for arm in "abc"]
    for row in range(6):
        posterior = agent.belief.task(agent.node(table["task"][row]))
        split = agent.belief.uncertainty(agent.node(table["task"][row]))
        i = row % 3
        assert table["mean"][row] == pytest.approx(posterior.mean[i])
        assert table["within_var"][row] == pytest.approx(split.within[i, i])
        assert table["shared_var"][row] == pytest.approx(split.shared[i, i])
        half = 1.2815515655 * posterior.std[i]
        assert table["low"][row] == pytest.approx(posterior.mean[i] - half)
        assert table["high"][row] == pytest.approx(posterior.mean[i] + half)
    with pytest.raises(ValueError, match="confidence must be in"):
        agent.table(confidence=1.0)


def test_a_wider_confidence_and_a_new_task_widen_the_interval():
    agent = Agent(ARMED, seed=0)
    for _ in range(20):
        agent.reward(agent.decide("old").id, 1.0)
    agent.decide("new")
    narrow, wide = agent.table(confidence=0.5), agent.table(confidence=0.99)
    for row in range(6):
        assert wide["low"][row] < narrow["low"][row] < narrow["mean"][row]
        assert narrow["mean"][row] < narrow["high"][row] < wide["high"][row]
    arm = max(range(3), key=lambda row: narrow["mean"][row])  # the one played most
    assert narrow["within_var"][arm] < narrow["within_var"][3 + arm]


def test_a_table_of_many_rows_is_cut_in_text_alone():
    table = {"task": ["a", "b"], "arm": ["x", "y"], "mean": [0.123456, -2.0]}
    whole = "task  arm    mean\na     x    0.1235\nb     y        -2"
    assert summary_text(table, 2, 2) == summary_text(table, 9, 2) == whole
    assert summary_text(table, 1, 5) == whole.rsplit("\n", 1)[0] + "\n... and 4 rows more"
    assert summary_text({"task": [], "arm": []}, 5, 0) == "task  arm"
