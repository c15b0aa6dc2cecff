"""Requests take turns together, and hear of nothing that is not stored."""

import asyncio

import pytest
from support.service_rooms import PLAIN, in_room, ready

from hierbandits.service.api_problem import Problem
from hierbandits.service.policy_turns import PolicyTurns


def test_requests_that_come_together_are_one_event(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        replies = await asyncio.gather(*(room.decide(f"u{i}") for i in range(20)))
        assert room.storage.last(room.book.record("shop").id) == 2
        assert [reply.task for reply in replies] == [f"u{i}" for i in range(20)]
        outcomes = await asyncio.gather(*(room.reward(reply.id, 1.0) for reply in replies))
        assert {outcome.status for outcome in outcomes} == {"learned"}
        assert room.storage.last(room.book.record("shop").id) == 3

    in_room(tmp_path, scenario)


def test_decisions_and_rewards_that_come_together_are_two_events(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        made = [await room.decide(f"u{i}") for i in range(5)]
        before = room.storage.last(room.book.record("shop").id)
        mixed = [call for one in made for call in (room.reward(one.id, 1.0), room.decide(one.task))]
        replies = await asyncio.gather(*mixed)
        assert {reply.status for reply in replies[::2]} == {"learned"}
        assert [reply.task for reply in replies[1::2]] == [one.task for one in made]
        assert room.storage.last(room.book.record("shop").id) == before + 2

    in_room(tmp_path, scenario)


def test_few_requests_wait_for_what_is_being_stored_and_are_one_event_then(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        live = room.book.turns("shop").live
        room.storage.may_go_on.clear()
        first = asyncio.ensure_future(room.decide("u"))
        await room.storage.holds_one()
        number, later = live.number, []
        for i in range(5):  # one after the other, as they come over a network
            later.append(asyncio.ensure_future(room.decide(f"v{i}")))
            await asyncio.sleep(0.001)
        assert live.number == number
        room.storage.may_go_on.set()
        await asyncio.gather(first, *later)
        assert live.number == number + 1

    in_room(tmp_path, scenario)


def test_many_requests_do_not_wait_for_what_is_being_stored(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        live = room.book.turns("shop").live
        room.storage.may_go_on.clear()
        first = asyncio.ensure_future(room.decide("u"))
        await room.storage.holds_one()
        number = live.number
        later = [asyncio.ensure_future(room.decide(f"v{i}")) for i in range(40)]
        await asyncio.sleep(0.01)
        assert live.number == number + 1
        assert not any(one.done() for one in later)
        room.storage.may_go_on.set()
        await asyncio.gather(first, *later)

    in_room(tmp_path, scenario)


def test_nobody_hears_of_a_decision_that_is_not_stored_nor_of_one_that_another_made(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        room.storage.may_go_on.clear()
        first = asyncio.ensure_future(room.decide("u", id="x"))
        await room.storage.holds_one()
        again = asyncio.ensure_future(room.decide("u", id="x"))
        look = asyncio.ensure_future(
            room.book.turns("shop").ask(
                "call", lambda: room.book.turns("shop").live.view.decision("x")
            )
        )
        for _ in range(20):
            await asyncio.sleep(0)
        assert not any(task.done() for task in (first, again, look))
        room.storage.may_go_on.set()
        one, two, seen = await asyncio.gather(first, again, look)
        assert (one.duplicate, two.duplicate) == (False, True)
        assert one.arm == two.arm == seen["arm"]

    in_room(tmp_path, scenario)


def test_what_is_not_stored_never_happened_and_the_policy_is_loaded_again(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        kept = await room.decide("u", id="kept")
        room.storage.fails = lambda batch: True
        lost = await asyncio.gather(
            room.decide("v", id="lost"), room.reward("kept", 1.0), return_exceptions=True
        )
        assert [one.status for one in lost] == [503, 503]
        room.storage.fails = lambda batch: False
        await ready(room)
        assert room.agent().tasks == ["u"]
        assert (await room.decide("u", id="kept")).arm == kept.arm
        assert (await room.reward("kept", 1.0)).status == "learned"
        fresh = await room.decide("v", id="lost")
        assert not fresh.duplicate

    in_room(tmp_path, scenario)


def test_while_it_is_loaded_again_it_asks_for_patience(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        turns = room.book.turns("shop")
        room.storage.fails = lambda batch: True
        refused = await room.decide("u")
        assert "not stored" in str(refused)
        assert turns.is_lost
        with pytest.raises(Problem, match="being loaded") as caught:
            await turns.ask("decide", None)
        assert caught.value.status == 503
        room.storage.fails = lambda batch: False
        await ready(room)
        assert room.book.turns("shop") is not turns

    in_room(tmp_path, scenario)


def test_a_policy_that_did_what_it_cannot_tell_is_loaded_again(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        await room.decide("u")
        room.book.turns("shop").live._acting._expected = None
        with pytest.raises(RuntimeError, match="gaps"):
            await room.decide("v")
        await ready(room)
        assert room.agent().tasks == ["u"]
        await room.decide("v")

    in_room(tmp_path, scenario)


def test_too_many_that_wait_are_refused(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        turns = PolicyTurns(room.book.turns("shop").live, room.commits, lambda turns: None, 3)
        asked = [
            asyncio.ensure_future(turns.ask("call", lambda: turns.live.number)) for _ in range(5)
        ]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert [getattr(answer, "status", 0) for answer in answers] == [0, 0, 0, 503, 503]
        assert turns.waiting == 0

    in_room(tmp_path, scenario)


def test_who_goes_away_hurts_nobody(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        room.storage.may_go_on.clear()
        gone = asyncio.ensure_future(room.decide("u"))
        await room.storage.holds_one()
        gone.cancel()
        stays = asyncio.ensure_future(room.decide("v"))
        await asyncio.sleep(0)
        room.storage.may_go_on.set()
        assert (await stays).task == "v"
        assert room.book.turns("shop").waiting == 0

    in_room(tmp_path, scenario)
