"""Decisions by their ids, stored or not yet."""

import pytest
from support.service_lives import Core

from hierbandits.service.policy_settings import PolicySettings


@pytest.fixture
def core(tmp_path):
    own = Core(tmp_path / "a.db", PolicySettings(arms=["a", "b"], draws=5))
    yield own
    own.storage.close()


def test_a_decision_is_found_before_and_after_it_is_stored(core):
    own, given = core.decide("u").id, core.decide("v", id="Köln").id
    core.reward(given, 2.0)
    fresh = [core.live.view.decision(id) for id in (own, given)]
    core.store()
    assert [core.live.view.decision(id) for id in (own, given)] == fresh
    assert (fresh[0]["reward"], fresh[1]["reward"]) == (None, 2.0)
    assert fresh[1]["policy_version"] == 1


def test_the_last_reward_counts_where_one_is_stored_and_one_is_not(core):
    core.decide("u", id="x")
    core.reward("x", 1.0)
    core.store()
    core.live.correct("x", 2.0)
    assert core.live.view.decision("x")["reward"] == 2.0
    core.store()
    assert core.live.view.decision("x")["reward"] == 2.0


@pytest.mark.parametrize("id", ["nobody", "", "1.5.00000000", "x\u0000", "é"])
def test_unknown_ids_are_nobodys(core, id):
    core.decide("u", id="x")
    assert core.live.view.decision(id) is None
    core.store()
    assert core.live.view.decision(id) is None


def test_a_place_that_is_no_decision_is_none(core):
    id = core.decide("u").id
    core.reward(id, 1.0)
    _, _, mark = id.split(".")
    for other in (f"2.0.{mark}", f"1.1.{mark}", f"9.0.{mark}", f"01.0.{mark}", f"0.0.{mark}"):
        assert core.live.view.decision(other) is None


def test_events_stored_or_not_come_in_one_row(core):
    for _ in range(3):
        core.decide("u")
    core.store()
    for _ in range(2):
        core.decide("u")
    assert [number for number, _ in core.live.view.events(1, 5)] == [2, 3, 4, 5]


def test_a_hidden_task_is_not_found_up_to_an_event(core):
    old = core.decide(["u"]).id
    core.live.view.hide("u", 1)
    new = core.decide("u").id
    assert core.live.view.decision(old) is None
    assert core.live.view.decision(new)["id"] == new
    core.live.view.hide_no_more("u")
    assert core.live.view.decision(old)["id"] == old
