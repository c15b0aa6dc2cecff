"""Events in the ledger, and what they say of a decision."""

import json

import pytest

from hierbandits.service.stored_event import (
    agent_events,
    as_text,
    decision_at,
    encoded,
    plain_task,
    reward_in,
)


def event(kind, **parts):
    return encoded({"version": 1, "history": "h", "number": 4, "kind": kind, "time": 9.0} | parts)


def test_where_an_event_is_says_the_rest():
    assert json.loads(event("reward", ids=["x"], values=[0.1])) == {
        "kind": "reward", "time": 9.0, "ids": ["x"], "values": [0.1],
    }  # fmt: skip


def test_numbers_come_back_bit_for_bit():
    values = [0.1 + 0.2, 5e-324, -0.0, 1.7976931348623157e308, 2**53 + 1]
    back = json.loads(event("reward", ids=[], values=values))["values"]
    assert [value.hex() for value in map(float, back)] == [float(v).hex() for v in values]


def test_an_agent_gets_events_by_number_and_erased_ones_as_nothing_learned():
    stored = [
        (3, event("decide", best=False, decisions=[None, {"id": "x"}])),
        (4, event("erased")),
    ]
    first, second = agent_events(stored, "mine")
    assert (first["number"], first["history"], first["decisions"]) == (2, "mine", [{"id": "x"}])
    assert (second["number"], second["kind"], second["rewards"]) == (3, "learn", [])
    assert second["time"] == 9.0


def test_a_decision_by_its_place():
    data = event("decide", decisions=[{"id": "x"}, None], policy_version=3)
    assert decision_at(data, 0) == {"id": "x", "policy_version": 3}
    assert decision_at(data, 1) is None  # erased
    assert decision_at(data, 2) is None  # never made
    assert decision_at(event("reward", ids=[], values=[]), 0) is None


@pytest.mark.parametrize(
    ("data", "reward"),
    [
        (event("reward", ids=["y", "x"], values=[1.0, 2.0]), (2.0, False)),
        (event("correct", id="x", value=3.0), (3.0, False)),
        (event("learn", late="x", rewards=[4.0]), (4.0, False)),
        (event("expire", ids=["x"], default=5.0), (5.0, True)),
        (event("expire", ids=["x"], default=None), None),  # given up: it has no reward
        (event("reward", ids=["y"], values=[1.0]), None),
        (event("erased"), None),
    ],
)
def test_the_reward_that_an_event_gave(data, reward):
    assert reward_in(data, "x") == reward


def test_a_path_of_one_name_is_that_name():
    assert plain_task(["a"]) == plain_task(("a",)) == plain_task("a") == "a"
    assert plain_task(("a", 1)) == ["a", 1]
    assert as_text(["a"]) == as_text("a") == '"a"'
    assert as_text(1) != as_text("1")
