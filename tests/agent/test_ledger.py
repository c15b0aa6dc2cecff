"""The ledger: ids, rewards that are settled once, and decisions that expire."""

import os

import numpy as np
import pytest
from support.agents import ARMED, Clock

from hierbandits import Agent, Decision, RewardConflict, UnknownDecision
from hierbandits.agent.ledger import Ledger
from hierbandits.agent.roster import Member


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


def _ledger():
    """Decisions a, b, c and d, made at the times 1 to 4; a is settled at 5 with reward 0.5."""
    ledger, member = Ledger(), Member("t", 0)
    for time, id in enumerate("abcd", 1):
        ledger.add(Decision(id, "t", "arm", 0, None), member, float(time))
    ledger.settle([ledger.pending["a"]], [0.5], 5.0)
    return ledger, member


def test_a_decision_is_pending_until_it_is_settled_and_its_task_counts_both():
    ledger, member = _ledger()
    assert list(ledger.pending) == ["b", "c", "d"]
    assert ledger.settled == {"a": (0.5, 5.0)}
    assert (member.decisions, member.rewards) == (4, 1)
    assert ledger.awaiting("b", 1.0) is ledger.pending["b"]
    assert ledger.awaiting("a", 0.5) is None


def test_of_a_reward_that_is_repeated_the_first_counts():
    ledger, _ = _ledger()
    b, c = ledger.pending["b"], ledger.pending["c"]
    assert ledger.awaiting_many(["b", "a", "b", "c"], [1.0, 0.5, 1.0, 2.0]) == [b, None, None, c]
    with pytest.raises(RewardConflict, match=r"'b' has the reward 1\.0, got 3\.0"):
        ledger.awaiting_many(["b", "b"], [1.0, 3.0])
    with pytest.raises(RewardConflict, match=r"'a' has the reward 0\.5, got 1\.0"):
        ledger.awaiting("a", 1.0)
    with pytest.raises(UnknownDecision, match="not expired, got 'e'"):
        ledger.awaiting_many(["b", "e"], [1.0, 1.0])


def test_by_default_nothing_expires_and_a_limit_is_exclusive():
    ledger, _ = _ledger()
    assert ledger.expire(1.0) == []
    assert ledger.expire(3.0) == ["b"]
    assert list(ledger.pending) == ["c", "d"]
    assert ledger.awaiting("a", 0.5) is None  # its reward came at 5
    assert ledger.expire(5.5) == ["c", "d"]
    assert ledger.pending == ledger.settled == {}


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
