"""Journals: every event before it happens, on lines that a crash may tear."""

import json
import os

import numpy as np
import pytest
from support.agent_lives import new_agent
from support.agents import ARMED, Clock, state
from support.processes import in_child

from hierbandits import Agent, TaskSums
from hierbandits.agent.journal import VERSION, Journal, events_of


class Full(Exception):
    """A journal that has no room left."""


def _each_change(agent):
    """Every call that changes an agent, by name; the agent has a settled and two old decisions."""
    clock = agent._books.clock
    return {
        "decide": lambda: agent.decide("new"),
        "decide_many": lambda: agent.decide_many(["t", "new", "newer"]),
        "best": lambda: agent.decide("newest", best=True),
        "reward": lambda: agent.reward("old", 1.0),
        "reward_many": lambda: agent.reward_many(["old", "older"], [1.0, 2.0]),
        "correct": lambda: agent.correct("done", 9.0),
        "expire": lambda: agent.expire(clock.now - 500),
        "default": lambda: agent.expire(clock.now - 500, default=0.0),
        "learn": lambda: agent.learn(["other"], ["a"], [1.0]),
        "forget": lambda: agent.forget("t"),
        "add_arm": lambda: agent.add_arm("z"),
        "retire_arm": lambda: agent.retire_arm("a"),
    }


def _prepared(journal, policy="HierTS-forced"):
    agent = new_agent("armed", policy, journal=journal)
    clock = agent._books.clock
    clock.now = 100.0
    for id in ("done", "old", "older"):
        agent.decide("t", id=id)
    agent.reward("done", 0.5)
    clock.now = 1000.0
    return agent


@pytest.mark.parametrize("change", list(_each_change(new_agent("armed", "HierTS"))))
def test_if_the_journal_fails_nothing_has_changed(change):
    events, fails = [], []

    def journal(event):
        if fails:
            raise Full
        events.append(event)

    agent = _prepared(journal)
    before, written = state(agent), len(events)
    fails.append(True)
    with pytest.raises(Full):
        _each_change(agent)[change]()
    assert agent._books.held.unfinished is None  # nothing waits for the next call
    assert state(agent) == before
    fails.clear()
    _each_change(agent)[change]()
    assert state(agent) != before
    assert len(events) == written + 1
    assert events[-1] == json.loads(json.dumps(events[-1]))  # plain data
    assert [event["number"] for event in events] == list(range(len(events)))
    assert {event["version"] for event in events} == {VERSION}


def test_a_rule_that_fails_leaves_no_new_task():
    agent = new_agent("deep", "HierTS-forced")
    agent.decide(("north", 1))
    rule = agent._state.policy.rule
    before = state(agent)
    agent._state.policy.rule = lambda *_: 1 / 0
    with pytest.raises(ZeroDivisionError):
        agent.decide_many([("north", 2), ("south", 1)])
    agent._state.policy.rule = rule
    assert state(agent) == before


def test_the_sums_of_a_log_are_an_event_too():
    events = []
    agent = Agent(ARMED, arms=["a", "b", "c"], journal=events.append)
    sums = TaskSums.zeros(1, 2, armed=True)
    sums.add([0, 0], [0, 1], [1.0, 2.0])
    agent.learn_past(["t"], sums, ["c", "a"])
    assert [event["kind"] for event in events] == ["learn_past"]
    again = Agent.replay(events, ARMED, arms=["b", "c", "a"])  # another order: names count
    assert again.table()["rewards"] == [0, 1, 1]


def test_what_changes_nothing_is_no_event(tmp_path):
    path = tmp_path / "journal"
    agent = _prepared(path)
    agent.reward("done", 0.5)
    agent.correct("done", 0.5)
    agent.expire(10_000)
    with pytest.raises(ValueError, match="has the reward"):
        agent.reward("done", 7.0)
    kinds = [event["kind"] for event in events_of(path)]
    assert kinds == ["decide", "decide", "decide", "reward"]


def test_a_journal_may_look_at_its_agent_but_not_change_it():
    seen, tries = [], []

    def journal(event):
        seen.append(agent.tasks)
        if tries:
            agent.decide("inner")

    agent = Agent(ARMED, seed=0, journal=journal)
    agent.decide("t")
    before = state(agent)
    tries.append(True)
    with pytest.raises(
        RuntimeError, match="agent must not be used in the middle of one of its own calls"
    ):
        agent.decide("outer")
    assert state(agent) == before
    tries.clear()
    agent.decide("outer")
    assert agent.tasks == ["t", "outer"]


def test_a_path_does_not_move_with_the_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agent = Agent(ARMED, seed=0, journal="journal")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    agent.decide("t")
    assert (tmp_path / "journal").exists()


def test_propensities_are_on_with_a_journal(tmp_path):
    assert Agent(ARMED, seed=0, journal=tmp_path / "j").decide("t").propensity is not None
    assert Agent(ARMED, seed=0, journal=lambda _: None, floor=0.3).decide("t").propensity >= 0.1
    assert Agent(ARMED, seed=0).decide("t").propensity is None
    few = Agent(ARMED, "HierTS", seed=0, journal=lambda _: None, draws=2).decide("t").propensity
    assert few in (0.5, 1.0)
    with pytest.raises(ValueError, match="journal must be a path or a function, got 5"):
        Agent(ARMED, journal=5)


@pytest.mark.parametrize(
    "torn", [b"{", b'{"version": 1, "number": 4, "kind": "reward"', b"\xff\xff"]
)
def test_a_torn_last_line_never_happened(torn, tmp_path):
    path = tmp_path / "journal"
    agent = _prepared(path)
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert len(list(events_of(path))) == 4
    prior = agent.prior
    del agent  # and with it its hold on the file
    again = Agent.replay(
        path, prior, "HierTS-forced", arms=["a", "b", "c"], journal=path, clock=Clock()
    )
    assert path.read_bytes() == whole + torn  # opened at the first event
    again.reward("old", 2.0)
    assert path.read_bytes().startswith(whole)
    assert [event["number"] for event in events_of(path)] == [0, 1, 2, 3, 4]


def test_a_journal_of_one_long_line_is_read_from_its_end(tmp_path):
    path = tmp_path / "journal"
    agent = Agent(ARMED, seed=0, journal=path)
    agent.decide_many(range(3000))
    del agent
    again = Agent.replay(path, ARMED, journal=path)
    again.decide("t")
    assert [event["number"] for event in events_of(path)] == [0, 1]


def test_two_agents_do_not_share_a_file(tmp_path):
    path = tmp_path / "journal"
    _prepared(path)
    other = Agent(ARMED, journal=path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"before event 0, got .*which ends with event 3: replay"):
        other.decide("t")
    assert path.read_bytes() == before
    assert other.tasks == []


def test_a_child_does_not_write_to_its_parents_journal(tmp_path):
    agent = _prepared(tmp_path / "journal")
    before = (tmp_path / "journal").read_bytes()

    def refused():
        try:
            agent.decide("t")
        except RuntimeError as error:
            return error

    assert "a child: load an agent there" in in_child(refused)
    assert (tmp_path / "journal").read_bytes() == before
    agent.decide("t")


def test_a_line_that_is_no_event_is_named(tmp_path):
    path = tmp_path / "journal"
    good = {"version": VERSION, "history": "h", "number": 0, "kind": "forget", "task": "t"}
    for line, message in (
        ("nonsense", "line 2 is not an event of a journal"),
        ('{"number": 1, "version": 99}', "line 2 must have the version 1, got 99"),
        ("[1]", "line 2 is not an event of a journal"),
        ('{"version": 1}', "line 2 is not an event of a journal"),
        ('{"version": 1, "number": 1}', "line 2 must say whose history it is part of"),
    ):
        path.write_text(json.dumps(good) + "\n" + line + "\n")
        events = events_of(path)
        assert next(events) == good
        with pytest.raises(ValueError, match=message):
            next(events)
    with pytest.raises(ValueError, match="source must be a journal's path, events or a Log, got 5"):
        list(events_of(5))
    with pytest.raises(ValueError, match="event 0 is not an event"):
        list(events_of(["x"]))


def test_a_disk_that_is_full_leaves_whole_lines(tmp_path, monkeypatch):
    path = tmp_path / "journal"
    agent = _prepared(path)
    before, whole, write = state(agent), path.read_bytes(), os.write
    monkeypatch.setattr(os, "write", lambda file, line: write(file, line[:10]))
    with pytest.raises(OSError, match="journal must have room"):
        agent.decide("new")
    monkeypatch.undo()
    assert path.read_bytes() == whole
    assert state(agent) == before
    agent.decide("new")
    assert len(list(events_of(path))) == 5


def test_a_journal_closes_its_file(tmp_path):
    def descriptors():
        return len(os.listdir("/dev/fd"))

    journal = Journal(tmp_path / "journal")
    open_before = descriptors()
    written = []
    journal.write("h", 0, "forget", 0.0, {"task": "t"}, written)
    assert len(written) == 1
    assert descriptors() == open_before + 1
    del journal
    assert descriptors() == open_before


def test_numbers_in_events_are_exact(tmp_path):
    agent = new_agent("linear", "HierTS", journal=tmp_path / "j")
    rng = np.random.default_rng(0)
    for value in rng.normal(size=20) * 10.0 ** rng.integers(-50, 50, 20):
        made = agent.decide("t", rng.normal(size=(2, 2)))
        agent.reward(made.id, value)
        *_, decided, rewarded = events_of(tmp_path / "j")
        assert tuple(decided["decisions"][0]["features"]) == made.features
        assert rewarded["values"] == [value]


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"a":' * 100_000, "[" * 9000 + "]" * 9000])
def test_a_line_that_is_nested_deeply_is_refused(nested, tmp_path):
    (tmp_path / "journal").write_text(nested + "\n")
    with pytest.raises(ValueError, match=r"journal, line 1 is not an event of a journal"):
        Agent.replay(tmp_path / "journal", ARMED)
    with pytest.raises(ValueError, match=r"journal, last line is not an event of a journal"):
        Agent(ARMED, journal=tmp_path / "journal").decide("t")
