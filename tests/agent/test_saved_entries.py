"""Decisions as plain data: what comes back is what was there.

`test_agent_file_checks` has what is refused.
"""

import json

import numpy as np
import pytest
from support.agent_lives import PRIORS, long_life, new_agent
from support.agents import ledger_parts

from hierbandits.agent.saved_entries import entries_to_data, restore_entries


@pytest.mark.parametrize("form", list(PRIORS))
@pytest.mark.parametrize("draws", [None, 5])
def test_decisions_come_back_as_they_were(form, draws):
    agent = new_agent(form, "HierTS", draws=draws)
    long_life(agent, form, np.random.default_rng(4))
    state = agent._state
    before = [ledger_parts(part) for part in (state.ledger.pending, state.ledger.settled)]
    places = [entry.place for entry in state.ledger.pending.values()]
    data = json.loads(json.dumps(entries_to_data(state.ledger)))
    assert len(data["offers"]) < len(data["pending"]) + len(data["settled"])
    rows = {
        name: np.array([entry.row for entry in entries.values()])
        for name, entries in (("pending", state.ledger.pending), ("settled", state.ledger.settled))
    }
    state.ledger.pending.clear()
    state.ledger.settled.clear()
    restore_entries(state, data, rows)
    assert [ledger_parts(part) for part in (state.ledger.pending, state.ledger.settled)] == before
    assert [entry.place for entry in state.ledger.pending.values()] == places
