"""The limits of an agent: what is beyond them is refused, and nothing has changed."""

import numpy as np
import pytest
from support.agent_lives import PRIORS, new_agent
from support.agents import Clock, state

from hierbandits import Agent, Limits, Start, TaskSums


def _refused(agent, call, match):
    before = state(agent)
    with pytest.raises(ValueError, match=match):
        call()
    assert state(agent) == before


@pytest.mark.parametrize("form", list(PRIORS))
def test_tasks(form):
    agent = new_agent(form, "HierTS", limits=Limits(tasks=3))
    deep, armed = "deep" in form, PRIORS[form].is_armed
    tasks = [("north", number) if deep else number for number in range(5)]
    agent.decide_many([*tasks[:2], *tasks[:2]])
    full = r"tasks must be at most 3 \(limits.tasks\), got 4"
    features = ["a", "a"] if armed else np.ones((2, 2))
    _refused(agent, lambda: agent.decide_many(tasks[2:4]), full)
    _refused(agent, lambda: agent.learn(tasks[2:4], features, [1.0, 2.0]), full)
    agent.learn(tasks[1:3], features, [1.0, 2.0])
    _refused(agent, lambda: agent.decide(tasks[3]), full)
    for task in tasks[:3]:
        agent.decide(task)
    agent.forget(tasks[0])
    agent.decide(tasks[3])


def test_tasks_that_would_take_too_much_room():
    agent = new_agent("armed", "HierTS", limits=Limits(cells=12))  # six numbers each
    agent.decide_many(["s", "t"])
    _refused(agent, lambda: agent.decide("u"), r"at most 12 cells \(limits.cells\), got 18 for 3")
    with pytest.raises(ValueError, match=r"limits.cells\), got 2,500,000,000 for 1 tasks and 50,0"):
        Agent(num_features=50_000)
    with pytest.raises(ValueError, match=r"arms must be at most 100,000 \(limits.arms\), got 200,"):
        Agent(arms=range(200_000))


def test_arms():
    agent = new_agent("armed", "HierTS", limits=Limits(arms=4))
    agent.add_arm("d")
    _refused(agent, lambda: agent.add_arm("e"), r"arms must be at most 4 \(limits.arms\), got 5")


def test_pending_decisions():
    agent = new_agent("armed", "HierTS", limits=Limits(pending=2))
    first = agent.decide("t")
    full = r"pending decisions must be at most 2 \(limits.pending\), got \d more: reward some, or l"
    _refused(agent, lambda: agent.decide_many(["t", "u"]), full)
    agent.decide("t")
    for call in (
        lambda: agent.decide("t"),
        lambda: agent.decide("t", id="mine"),
        lambda: agent.decide("new"),
        lambda: agent.decide("t", best=True),
    ):
        _refused(agent, call, full)
    agent.reward(first.id, 1.0)
    agent.decide("t")
    agent._books.clock.now += 100
    agent.expire(50)
    agent.decide_many(["t", "u"])


@pytest.mark.parametrize(
    "name", ["x" * 70_000, "ü" * 70_000, 10**70_000], ids=["ascii", "letters", "digits"]
)
def test_names(name):
    agent = new_agent("armed", "HierTS")
    agent.decide("t")
    long = r"must have at most 1,000 characters \(limits.name_length\), got 70,00[01]"
    _refused(agent, lambda: agent.decide(name), f"task {long}")
    _refused(agent, lambda: agent.decide_many(["t", name]), f"task {long}")
    _refused(agent, lambda: agent.learn([name], ["a"], [1.0]), f"task {long}")
    _refused(agent, lambda: agent.add_arm(name), f"name {long}")
    if isinstance(name, str):
        _refused(agent, lambda: agent.decide("t", id=name), f"ids {long}")
    with pytest.raises(ValueError, match=f"arms {long}"):
        Agent(arms=["a", name])
    deep = new_agent("deep", "HierTS")
    _refused(deep, lambda: deep.decide(("north", name)), f"task {long}")
    roomy = Agent(arms=["a", name], limits=Limits(name_length=80_000))
    if isinstance(name, str):
        roomy.decide(name, id=name)


def test_a_start_must_fit_too():
    sums = TaskSums.zeros(3, 3, armed=True)
    start = Start(PRIORS["armed"], sums, ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"tasks must be at most 2 \(limits.tasks\), got 3"):
        Agent(start, limits=Limits(tasks=2))
    assert len(Agent(start, limits=Limits(tasks=3)).tasks) == 3


def test_limits_are_saved_and_may_be_changed_at_load(tmp_path):
    agent = new_agent("armed", "HierTS", limits=Limits(pending=1))
    agent.decide("t")
    agent.save(tmp_path / "a")
    loaded = Agent.load(tmp_path / "a", clock=Clock())
    assert state(loaded) == state(agent)
    with pytest.raises(ValueError, match=r"limits\.pending"):
        loaded.decide("t")
    Agent.load(tmp_path / "a", limits=Limits(pending=2)).decide("t")
    with pytest.raises(ValueError, match=r"limits\.tasks"):
        Agent.load(tmp_path / "a", limits=Limits(tasks=1)).decide("u")
