"""Decisions that an agent does not remember any more, told to it again."""

from typing import Any

import numpy as np

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.decision import Decision
from hierbandits.agent.ledger import Entry
from hierbandits.checks import real_array
from hierbandits.types import Indices, Matrix, Name


def recalled_entry(state: AgentState, id: str, forgotten: tuple[Decision, float]) -> Entry:
    """A decision with the reward that the agent has learned of it, which may be only a default."""
    try:
        decision, reward = forgotten
    except (TypeError, ValueError):
        decision = None
    if not isinstance(decision, Decision) or decision.id != id:
        raise ValueError(
            f"forgotten must be the decision {id!r:.80} and its reward, got {forgotten!r:.80}"
        )
    member = state.roster.find(decision.task)
    row = belief_rows(state, [decision.arm], [decision.features])[0]
    own: Any = int(row) if state.prior.is_armed else np.array(row)
    known = float(real_array("forgotten", reward, ()))
    _, _, arm, _, propensity, time, offered = decision
    return Entry(id, member, arm, own, propensity, time, offered, known, provisional=True)


def belief_rows(state: AgentState, arms: list[Name], features: Any) -> Matrix | Indices:
    """Features as a belief takes them; arms count by their names, whatever their order was."""
    if state.prior.is_armed:
        return state.catalogue.places_of(arms)
    return state.belief.checked_features(
        np.reshape(features, (len(arms), state.prior.dim)), len(arms)
    )
