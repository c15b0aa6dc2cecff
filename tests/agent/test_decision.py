"""Decisions: told apart by their ids, fixed once they are made, and plain data."""

import json

import numpy as np
import pytest
from support.agents import ARMED, ARMS, DEEP, LINEAR, Clock

from hierbandits import Agent, Decision


def test_decisions_are_equal_by_id():
    agent = Agent(LINEAR, seed=0)
    one, other = agent.decide("t", ARMS), agent.decide("t", ARMS)
    assert one == agent.pending[0]
    assert one != other
    assert one in agent.pending
    assert len({one, other, agent.pending[1]}) == 2


def test_what_a_decision_was_for_cannot_be_changed():
    agent = Agent(LINEAR, seed=0)
    arms = np.array([[1.0, 2.0]])
    decision = agent.decide("t", arms)
    arms[:] = 9.0
    assert decision.features == (1.0, 2.0)
    with pytest.raises(AttributeError):
        decision.arm = 1


def test_a_decision_says_when_it_was_made_and_what_was_offered():
    clock = Clock()
    agent = Agent(ARMED, seed=0, arms=["a", "b", "c"], clock=clock)
    assert agent.decide("t").offered == ("a", "b", "c")
    clock.now = 2000.5
    made = agent.decide("t", ["c", "a"], eligible=[True, False])
    assert (made.time, made.offered, made.arm) == (2000.5, ("c",), "c")
    linear = Agent(LINEAR, seed=0)
    assert linear.decide("t", np.eye(2)).offered == (0, 1)
    rounds = linear.decide_many(
        ["s", "t"], [ARMS, np.eye(2)], eligible=[[True, False, True], [False, True]]
    )
    assert [made.offered for made in rounds] == [("low", "high"), (1,)]


@pytest.mark.parametrize("prior", [ARMED, LINEAR, DEEP], ids=["armed", "linear", "deep"])
def test_a_decision_is_json(prior):
    agent = Agent(prior, seed=0, draws=5)
    task = ("north", np.int64(3)) if prior is DEEP else np.int64(3)
    arms = None if prior is ARMED else {"x": np.float32([0.5, 1]), np.int64(4): [1, 2]}
    made = agent.decide(task, arms)
    assert json.loads(json.dumps(made)) == json.loads(json.dumps(list(made.to_dict().values())))
    assert json.loads(json.dumps(made._asdict())) == made.to_dict()
    again = Decision.from_dict(json.loads(json.dumps(made.to_dict())))
    assert tuple(again) == tuple(made)
