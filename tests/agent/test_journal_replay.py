"""Journals replayed: the same agent again, whole or from a file that was saved on the way."""

import numpy as np
import pytest
from support.agent_lives import PRIORS, every_policy, live, long_life, new_agent
from support.agents import ARMED, Clock, state
from support.file_fuzz import fuzz_journals

from hierbandits import Agent, Recipe
from hierbandits.agent.journal import events_of
from hierbandits.models.variants import pooled
from hierbandits.policies.thompson_rule import thompson

every_form = pytest.mark.parametrize("form", list(PRIORS))


def _replayed(form, policy, source, **options):
    arms = new_agent(form, policy)._state.catalogue
    given = list(arms.names) if PRIORS[form].is_armed else arms.own.table
    return Agent.replay(source, PRIORS[form], policy, arms=given, clock=Clock(), **options)


def _memory(agent):
    """All state but that of the random numbers, which no journal holds."""
    return state(agent)[:-1]


@every_form
@every_policy
def test_a_replayed_agent_is_the_same_to_the_bit(form, policy, tmp_path):
    path, events = tmp_path / "journal", []
    for journal in (path, events.append):
        agent = new_agent(form, policy, journal=journal)
        long_life(agent, form, np.random.default_rng(1))
    again = _replayed(form, policy, path, journal=path)
    assert _memory(again) == _memory(agent)
    assert _memory(_replayed(form, policy, events)) == _memory(agent)
    live(again, form, np.random.default_rng(2), name="later")
    assert _memory(_replayed(form, policy, path)) == _memory(again)


@every_form
@every_policy
def test_a_file_and_the_journal_since_then_are_the_same_agent(form, policy, tmp_path):
    path, saved = tmp_path / "journal", tmp_path / "agent.hb"
    agent = new_agent(form, policy, journal=path)
    live(agent, form, np.random.default_rng(3))
    agent.save(saved)
    long_life(agent, form, np.random.default_rng(4))
    again = Agent.load(saved, tail=path, journal=path, clock=Clock())
    assert _memory(again) == _memory(agent)
    assert _memory(Agent.load(saved, tail=events_of(path), clock=Clock())) == _memory(agent)
    task = agent.tasks[0]
    del agent  # and with it its hold on the journal
    again.decide(task)
    del again
    late = Agent.load(saved, journal=path, clock=Clock())
    with pytest.raises(ValueError, match="journal must end where the agent stands"):
        late.decide(task)


def test_the_journal_of_another_agent_is_refused(tmp_path):
    events, others = [], []
    agent = Agent(ARMED, seed=0, journal=events.append)
    agent.save(tmp_path / "young.hb")
    agent.decide("t")
    agent.save(tmp_path / "agent.hb")
    other = Agent(ARMED, seed=0, journal=others.append)
    other.decide_many(["t", "s"])
    other.decide("t")
    agent.decide("t")
    for file in ("young.hb", "agent.hb"):
        with pytest.raises(ValueError, match="events must be of the agent's own history"):
            Agent.load(tmp_path / file, tail=others)
        assert _memory(Agent.load(tmp_path / file, tail=events)) == _memory(agent)
    with pytest.raises(ValueError, match=r"got event 1 of .*, another agent's"):
        Agent.replay([events[0], others[1]], ARMED)


def test_a_pooled_forced_start_is_replayed_and_forgets():
    recipe = Recipe(pooled, thompson, "pooled and forced", forced=True)
    events = []
    agent = Agent(ARMED, recipe, seed=0, journal=events.append)
    agent.decide_many(["s", "t", "t"])
    agent.decide("t", best=True)
    agent.forget("s")
    again = Agent.replay(events, ARMED, recipe)
    assert _memory(again) == _memory(agent)
    assert again._state.policy.forced.decided.tolist() == [2]


def test_arms_are_known_by_their_names_in_any_order():
    events = []
    agent = Agent(ARMED, arms=["a", "b", "c"], seed=0, journal=events.append)
    for i in range(30):
        agent.reward(agent.decide(i % 3).id, float(i))
    agent.learn([0], ["b"], [1.0])
    waiting = agent.decide(0, ["c"])
    again = Agent.replay(events, ARMED, arms=["c", "a", "b"])
    one, other = agent.table(), again.table()
    for row, key in enumerate(zip(one["task"], one["arm"], strict=True)):
        place = list(zip(other["task"], other["arm"], strict=True)).index(key)
        assert other["rewards"][place] == one["rewards"][row]
        assert other["mean"][place] == pytest.approx(one["mean"][row], rel=1e-9)
    assert again.pending[0].features == 0
    again.reward(waiting.id, 1.0)


def test_a_journal_that_does_not_fit_is_refused():
    events = []
    agent = Agent(ARMED, arms=["a", "b", "c"], seed=0, journal=events.append)
    agent.reward(agent.decide("t").id, 1.0)
    agent.decide("t")
    with pytest.raises(ValueError, match="must go on where the agent stands, with event 0, got"):
        Agent.replay(events[1:], ARMED)
    for part, message in (
        ([events[0], events[2]], "got event 2 after 0"),
        ([events[0], events[0], events[1]], "got event 0 after 0"),  # of two writers
    ):
        with pytest.raises(ValueError, match=f"events must follow each other, {message}"):
            Agent.replay(part, ARMED, arms=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"event 0 does not fit this agent.*arms of this agent"):
        Agent.replay(events, ARMED, arms=["x", "y", "z"])
    with pytest.raises(ValueError, match="event 0 does not fit this agent"):
        Agent.replay(events, PRIORS["linear"])
    strange = [{**events[0], "kind": "dance"}]
    with pytest.raises(ValueError, match="event 0 does not fit this agent: KeyError"):
        Agent.replay(strange, ARMED, arms=["a", "b", "c"])
    twice = [events[0], {**events[0], "number": 1}]
    with pytest.raises(ValueError, match=r"event 1 does not fit this agent.*ids must be new"):
        Agent.replay(twice, ARMED, arms=["a", "b", "c"])


def test_an_agent_replayed_with_less_memory_forgets_what_it_would_have():
    events = []
    agent = Agent(ARMED, seed=0, journal=events.append)
    for i in range(10):
        agent.reward(agent.decide("t", id=str(i)).id, 1.0)
    again = Agent.replay(events, ARMED, remember=4)
    assert list(again._state.ledger.settled) == ["6", "7", "8", "9"]
    assert again.table() == agent.table()


def test_an_event_that_was_edited_is_refused_or_does_no_harm(tmp_path):
    """`make soak` does the same for long."""
    counts = fuzz_journals(tmp_path, 150, 0)
    assert counts["events_refused"] > 80


@pytest.mark.parametrize(
    ("kind", "part", "value"),
    [
        ("decide", "best", 1),
        ("decide", "time", "noon"),
        ("decide", "time", 1e9),  # other than that of its decisions
        ("decide", "decisions", {}),
        ("reward", "values", [None]),
        ("reward", "values", [np.nan]),
        ("reward", "values", ["1.0"]),
        ("reward", "time", np.inf),
        ("correct", "value", [0.5]),
        ("expire", "before", None),
        ("expire", "default", "0"),
        ("expire", "ids", ["another"]),
        ("learn", "rewards", [1.0, 2.0, 3.0]),
        ("learn", "arms", ["a", "b", "c"]),
        ("learn", "tasks", "t"),
        ("add_arm", "hyper_mean", "high"),
        ("retire_arm", "name", 1.5),
        ("forget", "task", None),
        (None, "number", True),
        (None, "number", -1),
        (None, "history", "x" * 101),
        (None, "kind", ["decide"]),
    ],
)
def test_each_part_of_an_event_is_checked(kind, part, value):
    events = []
    agent = new_agent("armed", "HierTS", journal=events.append)
    long_life(agent, "armed", np.random.default_rng(0), 4)
    place = next(i for i, event in enumerate(events) if kind in (None, event["kind"]))
    assert part in events[place]
    events[place] = {**events[place], part: value}
    with pytest.raises(ValueError, match=r"event 0|" + f"event {place} does not fit this agent"):
        _replayed("armed", "HierTS", events[: place + 1])


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("id", ""),
        ("task", 1.5),
        ("arm", "nobody"),
        ("arm", None),
        ("propensity", 0.0),
        ("propensity", 1.5),
        ("time", np.nan),
        ("offered", ["a", "a"]),
        ("offered", "abc"),
    ],
)
def test_each_part_of_a_decision_is_checked(part, value):
    events = []
    new_agent("armed", "HierTS", journal=events.append).decide("t")
    made = {**events[0]["decisions"][0], part: value}
    with pytest.raises(ValueError, match=f"event 0 does not fit this agent.*{part}"):
        _replayed("armed", "HierTS", [{**events[0], "decisions": [made]}])


def test_an_agent_catches_up_with_events_that_it_has_not_seen():
    events = []
    agent = Agent(ARMED, seed=0, journal=events.append)
    twin = Agent(ARMED, seed=1)
    history, number = twin.position
    assert number == 0
    for i in range(5):
        agent.reward(agent.decide(f"t{i}").id, float(i))
    seen = [event | {"history": history} for event in events]
    twin.catch_up(seen[:4])
    assert twin.position == (history, 4)
    twin.catch_up(seen)  # those that it has seen are left out
    assert twin.position == (history, len(events))
    assert twin.table() == agent.table()
    with pytest.raises(ValueError, match="events must go on where the agent stands"):
        twin.catch_up([seen[0] | {"number": 99}])
    with pytest.raises(ValueError, match="events must be of the agent's own history"):
        twin.catch_up(events)
    assert twin.table() == agent.table()
