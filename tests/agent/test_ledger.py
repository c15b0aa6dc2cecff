"""The ledger: ids, rewards that are settled once, and decisions that expire."""

import numpy as np
import pytest
from support.agents import ARMED, Clock
from support.processes import in_child

from hierbandits import Agent, RewardConflict, UnknownDecision
from hierbandits.agent.ledger import Entry, Ledger
from hierbandits.agent.roster import Member


def test_ids_never_repeat_and_leave_the_random_state_alone():
    agent, other = Agent(ARMED, seed=0), Agent(ARMED, seed=0)
    ids = [agent.decide("t").id for _ in range(200)]
    assert len(set(ids)) == 200
    for i in range(200):
        other.decide("t", id=str(i))
    assert agent._decider.rng.bit_generator.state == other._decider.rng.bit_generator.state
    assert [d.arm for d in agent.pending] == [d.arm for d in other.pending]


def test_a_forked_process_makes_ids_of_its_own():
    agent = Agent(ARMED, seed=0)
    agent.decide("t")
    made = in_child(lambda: agent.decide("t").id)
    assert made.endswith("-2")  # the second of its agent, too
    assert made != agent.decide("t").id


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


def _ledger(remember=None):
    """Decisions a, b, c and d, made at the times 1 to 4; a is settled at 5 with reward 0.5."""
    ledger, member = Ledger(remember), Member("t", 0, 0)
    for time, id in enumerate("abcd", 1):
        ledger.add(Entry(id, member, "arm", 0, None, float(time), ("arm",)))
    ledger.settle([ledger.pending["a"]], [0.5], 5.0)
    return ledger, member


def test_a_decision_is_pending_until_it_is_settled_and_its_task_counts_it():
    ledger, member = _ledger()
    assert list(ledger.pending) == ["b", "c", "d"]
    assert list(ledger.settled) == ["a"]
    entry = ledger.settled["a"]
    assert (entry.reward, entry.settled, entry.provisional) == (0.5, 5.0, False)
    assert member.decisions == 4
    assert ledger.awaiting("b", 1.0) is ledger.pending["b"]
    assert ledger.awaiting("a", 0.5) is None
    assert ledger.known("a") is entry
    with pytest.raises(ValueError, match="id must be of a decision that has its reward, got 'b'"):
        ledger.known("b")


def test_of_a_reward_that_is_repeated_the_first_counts():
    ledger, _ = _ledger()
    b, c = ledger.pending["b"], ledger.pending["c"]
    assert ledger.awaiting_many(["b", "a", "b", "c"], [1.0, 0.5, 1.0, 2.0]) == [b, None, None, c]
    with pytest.raises(RewardConflict, match=r"'b' has the reward 1\.0, got 3\.0"):
        ledger.awaiting_many(["b", "b"], [1.0, 3.0])
    with pytest.raises(RewardConflict, match=r"'a' has the reward 0\.5, got 1\.0"):
        ledger.awaiting("a", 1.0)
    with pytest.raises(UnknownDecision, match="not forgotten, got 'e'"):
        ledger.awaiting_many(["b", "e"], [1.0, 1.0])


def test_a_default_awaits_the_reward_that_replaces_it():
    ledger, _ = _ledger()
    b = ledger.pending["b"]
    ledger.settle([b], [0.0], 6.0, provisional=True)
    ledger.settle([ledger.pending["c"]], [1.0], 7.0)
    assert list(ledger.settled) == ["a", "b", "c"]
    assert ledger.awaiting("b", 0.0) is b
    assert ledger.awaiting_many(["b", "b"], [2.0, 2.0]) == [b, None]
    with pytest.raises(RewardConflict, match=r"'b' has the reward 2\.0, got 3\.0"):
        ledger.awaiting_many(["b", "b"], [2.0, 3.0])
    ledger.settle([b], [2.0], 8.0)
    assert list(ledger.settled) == ["a", "c", "b"]  # in the order of rewards
    assert ledger.awaiting("b", 2.0) is None


def test_the_oldest_of_too_many_settled_decisions_are_forgotten():
    ledger, _ = _ledger(remember=2)
    for id, time in (("d", 6.0), ("b", 7.0), ("c", 8.0)):
        ledger.settle([ledger.pending[id]], [1.0], time)
    assert list(ledger.settled) == ["b", "c"]
    with pytest.raises(UnknownDecision):
        ledger.awaiting("a", 0.5)
    none, _ = _ledger(remember=0)
    assert not none.settled
    agent = Agent(ARMED, seed=0, remember=3)
    for i in range(6):
        agent.reward(agent.decide("t", id=str(i)).id, 1.0)
    assert [agent.reward(str(i), 1.0) for i in (3, 4, 5)] == [False] * 3
    with pytest.raises(UnknownDecision):
        agent.reward("2", 1.0)
    with pytest.raises(ValueError, match="remember must be a whole number of at least 0"):
        Agent(ARMED, remember=-1)


def test_a_time_limit_is_exclusive():
    ledger, member = _ledger()
    assert ledger.pending_before(1.0) == ledger.settled_before(5.0) == []
    assert ledger.pending_before(3.0) == [ledger.pending["b"]]
    assert ledger.settled_before(5.5) == [ledger.settled["a"]]
    assert {entry.decision.id for entry in ledger.of_member(member)} == set("abcd")
    assert ledger.of_member(Member("t", 0, 0)) == []
    ledger.drop([ledger.pending["b"], ledger.settled["a"]])
    assert list(ledger.pending) == ["c", "d"]
    assert not ledger.settled


def test_ids_of_ones_own_are_new_and_as_many_as_tasks():
    ledger, _ = _ledger()
    assert ledger.new_ids(["x", "y"], 2) == ["x", "y"]
    for ids, message in (
        (["a", "x"], "ids must be new, got 'a'"),
        (["b", "x"], "ids must be new, got 'b'"),
        (["x", "x"], "ids must be 2 distinct strings"),
        (["x"], "ids must be 2 distinct strings"),
        (["x", ""], "ids must be non-empty strings"),
    ):
        with pytest.raises(ValueError, match=message):
            ledger.new_ids(ids, 2)
    made = ledger.new_ids(None, 3) + ledger.new_ids(None, 2)
    assert len(set(made)) == 5
    assert not set(made) & set(Ledger().new_ids(None, 5))


def test_a_batch_is_settled_before_its_oldest_decisions_are_forgotten():
    ledger, _ = _ledger(remember=3)
    b, c, d = (ledger.pending[id] for id in "bcd")
    ledger.settle([b], [0.0], 6.0, provisional=True)
    ledger.settle([c, d, b], [1.0, 2.0, 3.0], 7.0)
    assert list(ledger.settled) == ["c", "d", "b"]
    assert (b.reward, b.provisional) == (3.0, False)


@pytest.mark.parametrize("remember", [0, 1, 2, 3])
def test_new_rewards_and_those_of_defaults_come_in_one_batch(remember):
    events, clock = [], Clock()
    agent = Agent(ARMED, seed=0, clock=clock, journal=events.append, remember=remember)
    for id in "abc":
        agent.decide("t", id=id)
    clock.now += 100
    agent.expire(50, default=0.0)
    agent.decide_many(["t"] * 3, ids=["d", "e", "f"])
    held = [id for id in "abc" if id in agent._state.ledger.settled]
    ids = ["d", "e", "f", *held]
    assert agent.reward_many(ids, np.arange(len(ids))) == [True] * len(ids)
    assert list(agent._state.ledger.settled) == ids[len(ids) - remember :]
    again = Agent.replay(events, ARMED, remember=remember)
    assert again.table() == agent.table()


@pytest.mark.parametrize("journal", [True, False])
@pytest.mark.parametrize("step", [0.0, 5.0, 1e6])
def test_what_expires_does_not_depend_on_steps_back_of_the_clock(step, journal, tmp_path):
    clock, events = Clock(), []
    agent = Agent(ARMED, seed=0, clock=clock, journal=events.append if journal else None)
    for i in range(20):
        agent.decide("t", id=f"d{i}")
        clock.now += 10.0
        agent.decide("t", id=f"e{i}")
        clock.now -= step
        if i % 3 == 0:
            agent.reward(f"d{i}", 1.0)
        made = agent.decide_many(["s"], ids=[f"f{i}"])
        assert made[0].time == clock.now  # as the clock says
    agent.save(tmp_path / "agent")
    agents = [agent, Agent.load(tmp_path / "agent", clock=clock)]
    if journal:
        agents.append(Agent.replay(events, ARMED, clock=clock))
    clock.now += 20.0
    # di is 220 - 10 i old now, ei and fi are 210 - 10 i old.
    old = [f"{kind}{i}" for i in range(18) for kind in "def" if kind != "d" or i % 3]
    for each in agents:
        assert each.expire(30.5, default=0.5) == old
        assert [decision.id for decision in each.pending] == ["e18", "f18", "d19", "e19", "f19"]
        settled = list(each._state.ledger.settled)
        assert settled[:2] == ["d0", "d3"]
        assert each.expire(200.5) == []  # but d0 had its reward 210 ago
        assert list(each._state.ledger.settled) == settled[1:]


def test_a_step_back_of_the_clock_takes_no_time():
    ledger, _ = _ledger()
    ledger.tick(5.0)
    assert (ledger.steady(5.5), ledger.steady(4.0), ledger.steady(-100.0)) == (5.5, 5.0, 5.0)
    ledger.tick(4.0)
    ledger.tick(4.25)
    ledger.tick(3.0)
    assert (ledger.lag, ledger.steady(3.5)) == (2.25, 5.75)


def test_old_decisions_are_found_without_a_look_at_the_others():
    clock = Clock()
    agent = Agent(ARMED, seed=0, clock=clock)
    agent.decide_many(["t"] * 3, ids=list("abc"))
    clock.now += 10

    class Untouched(dict):
        """Tells how many of its values were looked at."""

        looked = 0

        def values(self):
            for value in super().values():
                Untouched.looked += 1
                yield value

    agent.decide_many(["t"] * 500)
    agent._state.ledger.pending = Untouched(agent._state.ledger.pending)
    assert agent.expire(5.0) == ["a", "b", "c"]
    assert Untouched.looked == 4


@pytest.mark.parametrize("age", [-5, -1e-9, -np.inf])
def test_a_negative_age_is_refused(age):
    agent = Agent(ARMED, seed=0)
    agent.decide("t", id="a")
    message = "older_than must be (at least 0|finite)"
    for default in (None, 0.0):
        with pytest.raises(ValueError, match=message):
            agent.expire(age, default=default)
    assert [decision.id for decision in agent.pending] == ["a"]


def test_a_given_id_cannot_be_one_that_the_agent_will_make():
    agent = Agent(ARMED, seed=0)
    stem, number = agent.decide("t").id.rsplit("-", 1)
    for call in (
        lambda id: agent.decide("t", id=id),
        lambda id: agent.decide_many(["t", "s"], ids=["x", id]),
    ):
        with pytest.raises(ValueError, match=r"ids must not begin with .* got"):
            call(f"{stem}-{int(number) + 1}")
    assert agent.decide("t", id=f"mine-{stem}-2").id in [d.id for d in agent.pending]
    made = [agent.decide("t").id for _ in range(3)]
    assert [decision.id for decision in agent.pending][2:] == made
