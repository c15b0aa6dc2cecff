"""The batches that an agent has decided, their keys and their ids."""

import pytest
from support.agents import ARMED

from hierbandits import Agent
from hierbandits.agent.batches import Batches, batch_ids, batch_key


def test_a_key_is_of_all_parts_and_their_order():
    parts = [["out", "a"], ["b", None], [["c", 1], ["x", "y"]]]
    keys = {batch_key(parts), batch_key(parts[::-1]), batch_key(parts[:2]), batch_key([parts])}
    assert len(keys) == 4
    assert batch_key(parts) == batch_key(list(parts))
    assert batch_key([["1"]]) != batch_key([[1]])


def test_ids_tell_who_made_a_decision():
    batches = Batches()
    batches.add("aa", 3)
    assert all(batches.has_made(id) for id in batch_ids("aa", 3))
    others = ["aa-3", "aa--1", "aa-01", "aa-", "aa", "-0", "", "ab-0", "aa-٢", "aa-" + "9" * 5000]
    assert not any(batches.has_made(id) for id in others)


def test_batches_are_saved_with_the_agent(tmp_path):
    agent = Agent(ARMED, seed=0)
    agent._state.batches.add("aa", 3)
    agent.save(tmp_path / "agent.hb")
    assert Agent.load(tmp_path / "agent.hb")._state.batches.state() == {"aa": 3}


@pytest.mark.parametrize("saved", [[1], {"aa": -1}, {"aa": "3"}, None])
def test_what_is_no_record_of_batches_is_refused(saved):
    with pytest.raises(ValueError, match="batches must be"):
        Batches().restore(saved)
