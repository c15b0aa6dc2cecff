"""Agents that are given a start."""

import numpy as np
import pytest
from support.learn_logs import drawn, sums_of

from hierbandits import AdaptiveBelief, Agent, Belief, GaussianHierarchy, Start, UnknownWidths

ARMS = ("a0", "a1", "a2")
PRIOR = GaussianHierarchy.armed(arms=ARMS, hyper_std=1.0, task_std=0.4, noise_std=0.5)


def log_and_start(armed=True, prior=None):
    rows = drawn(7, armed=armed, tasks=8, events=15)
    prior = prior or UnknownWidths.of(3, armed=armed)
    return rows, Start(prior, sums_of(rows), rows.names, ARMS if armed else None)


def test_an_agent_knows_the_log_of_its_start():
    rows, start = log_and_start(prior=PRIOR)
    agent, right = Agent(start, seed=0), Belief.from_sums(PRIOR, sums_of(rows))
    assert agent.tasks == rows.names
    for s, name in enumerate(rows.names):
        np.testing.assert_allclose(agent.belief.task(agent.node(name)).mean, right.task(s).mean)
    assert agent.decide("new").offered == ARMS
    # A new task starts from what the log's tasks have in common.
    np.testing.assert_allclose(agent.belief.task(agent.node("new")).mean, right.hyper(0).mean)


@pytest.mark.parametrize("armed", [True, False])
def test_unknown_widths_are_those_of_the_log(armed):
    rows, start = log_and_start(armed)
    agent = Agent(start, seed=0)
    right = AdaptiveBelief(start.prior, len(rows.names))
    right._raw_learn_past(np.arange(len(rows.names)), sums_of(rows))
    assert agent.belief.hierarchy().noise_std == right.hierarchy().noise_std
    np.testing.assert_allclose(agent.belief.hyper(0).mean, right.hyper(0).mean)
    assert abs(agent.belief.hierarchy().noise_std - 0.5) < 0.15
    offer = None if armed else np.eye(3)
    agent.reward(agent.decide("t0", offer).id, 1.0)
    assert agent.belief.num_rewards.sum() == start.num_rows + 1


def test_a_start_is_learned_once(tmp_path):
    rows, start = log_and_start()
    with pytest.raises(ValueError, match="before all rewards"):
        Agent(start).learn_past(rows.names, sums_of(rows))
    with pytest.raises(ValueError, match="log must not be the start's own"):
        Agent.replay(rows.log(), start)
    other = drawn(8, armed=True, tasks=8, events=15)
    agent = Agent.replay(other.log(), start)
    assert agent.belief.num_rewards.sum() == start.num_rows + other.task.size


def test_arguments_that_contradict_a_start_are_refused():
    _, start = log_and_start()
    assert Agent(start, arms=list(ARMS)).decide("t0").offered == ARMS
    with pytest.raises(ValueError, match=r"arms must be those of the start, \('a0', 'a1', 'a2'\)"):
        Agent(start, arms=["a2", "a1", "a0"])
    with pytest.raises(ValueError, match="arms must be those of the start"):
        Agent(start, arms=3)
    with pytest.raises(ValueError, match="num_features must not be given with a prior, got 3"):
        Agent(start, num_features=3)
    _, linear = log_and_start(armed=False)
    agent = Agent(linear, arms={"left": [1.0, 0.0, 0.0], "right": [0.0, 1.0, 0.0]})
    assert agent.decide("t0").arm in ("left", "right")


def test_files_and_journals_resume_an_agent_with_a_start(tmp_path):
    _, start = log_and_start()
    agent = Agent(start, seed=0, journal=tmp_path / "journal.jsonl")
    for step in range(6):
        agent.reward(agent.decide(f"t{step}").id, float(step))
    agent.save(tmp_path / "agent.hb")
    saved, means = Agent.load(tmp_path / "agent.hb"), agent.table()["mean"]
    replayed = Agent.replay(tmp_path / "journal.jsonl", start)
    for other in (saved, replayed):
        np.testing.assert_allclose(other.table()["mean"], means, rtol=1e-9)
    agent.forget("t1")
    assert "t1" not in agent.tasks
    agent.add_arm("a3")
    assert agent.decide("t0").offered == (*ARMS, "a3")
