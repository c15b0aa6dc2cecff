"""Decisions: told apart by their ids, and fixed once they are made."""

import numpy as np
import pytest
from support.agents import ARMS, LINEAR

from hierbandits import Agent


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
    assert decision.features.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        decision.features[0] = 9.0
    with pytest.raises(AttributeError):
        decision.arm = 1
