"""Policies by name: made, changed while they run, erased."""

import asyncio

import pytest
from support.service_lives import KINDS, assert_close, known
from support.service_rooms import PLAIN, in_room, ready

from hierbandits.service.api_problem import Problem
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.snapshots import from_ledger

OTHER = PolicySettings(arms=["a", "b", "c"], draws=6)
KNOWN = KINDS["armed"]


def recomputed(room, name="shop"):
    live = room.book.turns(name).live
    return from_ledger(
        live.record, live.settings, room.storage, lambda event: None, until=live.number
    )


def test_a_policy_is_made_changed_and_found_again(tmp_path):
    async def scenario(room):
        assert await room.book.put("shop", PLAIN) == (1, True)
        assert await room.book.put("shop", PLAIN) == (1, False)
        reply = await room.decide("u")
        await room.reward(reply.id, 2.0)
        assert await room.book.put("shop", OTHER) == (2, False)
        assert (await room.decide("u")).version == 2
        assert [one.after for one in room.book.versions("shop")] == [0, 3]
        return known(room.agent())

    async def again(room):
        assert room.book.names == ["shop"]
        assert room.book.turns("shop").live.version == 2
        return known(room.agent())

    assert in_room(tmp_path, scenario) == in_room(tmp_path, again)


@pytest.mark.parametrize("name", ["", "a/b", ".x", "a" * 101, "é", "a b", "a\n"])
def test_names_are_plain(tmp_path, name):
    async def scenario(room):
        with pytest.raises(Problem, match="name must be letters"):
            await room.book.put(name, PLAIN)

    in_room(tmp_path, scenario)


def test_what_is_not_there_is_not_found(tmp_path):
    async def scenario(room):
        with pytest.raises(Problem, match="policy 'nobody' is not known"):
            await room.book.delete("nobody")
        for look in (room.book.turns, room.book.versions, room.book.record):
            with pytest.raises(Problem, match="policy 'nobody' is not known"):
                look("nobody")
        await room.book.put("shop", PLAIN)
        with pytest.raises(Problem) as caught:
            await room.book.forget("shop", "nobody")
        assert caught.value.status == 404

    in_room(tmp_path, scenario)


def test_bad_settings_change_nothing_nor_do_those_that_do_not_fit_the_log(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        await room.decide("u")
        with pytest.raises(Problem, match="floor") as caught:
            await room.book.put("shop", PolicySettings(arms=["a", "b", "c"], floor=2.0))
        assert caught.value.status == 400
        with pytest.raises(Problem, match="settings must fit the log") as caught:
            await room.book.put("shop", PolicySettings(arms=["x", "y"]))
        assert caught.value.status == 409
        assert room.book.turns("shop").live.version == 1
        await room.decide("u")
        assert known(room.agent()) == known(recomputed(room))

    in_room(tmp_path, scenario)


def test_a_version_is_made_while_requests_run_and_sees_them_all(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        is_done, versions = False, set()

        async def client(number):
            while not is_done:
                reply = await room.decide(f"u{number}")
                versions.add(reply.version)
                await room.reward(reply.id, float(number))

        clients = [asyncio.ensure_future(client(i)) for i in range(8)]
        for draws in range(6, 12):
            await room.book.put("shop", PolicySettings(arms=["a", "b", "c"], draws=draws))
        is_done = True
        await asyncio.gather(*clients)
        assert len(versions) > 3
        assert room.book.turns("shop").live.version == 7
        assert known(room.agent()) == known(recomputed(room))
        room.storage.check()

    in_room(tmp_path, scenario)


def test_a_version_made_while_a_commit_is_under_way_skips_nothing(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        await room.decide("u")
        room.storage.may_go_on.clear()
        waiting = [asyncio.ensure_future(room.decide("v"))]
        await room.storage.holds_one()
        change = asyncio.ensure_future(room.book.put("shop", OTHER))
        while room.book.turns("shop").live.version == 1:  # many requests wait for no commit
            waiting.append(asyncio.ensure_future(room.decide("w")))
            await asyncio.sleep(0.005)
        assert not change.done()
        room.storage.may_go_on.set()
        await asyncio.gather(change, *waiting)
        assert room.agent().tasks == ["u", "v", "w"]
        assert known(room.agent()) == known(recomputed(room))

    in_room(tmp_path, scenario)


def test_a_deleted_task_is_gone_from_memory_ledger_and_snapshots(tmp_path):
    async def scenario(room):
        await room.book.put("shop", KNOWN)
        for task in ("me", "you", "me"):
            reply = await room.decide(task)
            await room.reward(reply.id, 1.0)
        live = room.book.turns("shop").live
        room.snapshots.save(live.record, live.number, {1: live.agent})
        assert await room.book.forget("shop", "me") == 5
        assert room.agent().tasks == ["you"]
        assert_close(room.agent(), recomputed(room))
        assert room.snapshots.newest(live.record.id, 1) == 0
        with pytest.raises(Problem):
            await room.book.forget("shop", "me")
        await room.decide("me")
        assert await room.book.forget("shop", "me") == 2

    in_room(tmp_path, scenario)
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b'"me"' not in everything
    assert b'"you"' in everything


def test_a_deletion_that_was_cut_off_is_finished_later(tmp_path):
    async def cut_off(room):
        await room.book.put("shop", KNOWN)
        for task in ("me", "you"):
            await room.reward((await room.decide(task)).id, 1.0)
        turns = room.book.turns("shop")
        await turns.ask("call", lambda: turns.live.forget("me"))
        await room.decide("me", id="new")  # it comes again, before the ledger is rewritten

    async def later(room):
        turns = room.book.turns("shop")
        assert set(room.agent().tasks) == {"me", "you"}
        await turns.ask("call", lambda: turns.live.forget("me"))
        return turns

    async def finish(room):
        assert room.agent().tasks == ["you"]
        assert await room.book.forget("shop", "me") == 5
        assert_close(room.agent(), recomputed(room))

    in_room(tmp_path, cut_off)
    in_room(tmp_path, later)
    in_room(tmp_path, finish)


def test_a_task_is_deleted_while_it_is_asked_for(tmp_path):
    async def scenario(room):
        await room.book.put("shop", KNOWN)
        is_done = False

        async def client(task):
            while not is_done:
                reply = await room.decide(task)
                outcome = await room.reward(reply.id, 1.0)
                # Its decision may be deleted before its reward comes.
                assert outcome.status in ("learned", 404)

        clients = [asyncio.ensure_future(client(task)) for task in ("me", "me", "you")]
        for _ in range(6):
            while "me" not in room.agent().tasks:
                await asyncio.sleep(0)
            await room.book.forget("shop", "me")
        is_done = True
        await asyncio.gather(*clients)
        room.storage.check()
        assert_close(room.agent(), recomputed(room))
        return set(room.agent().tasks)

    async def again(room):
        return set(room.agent().tasks)

    assert in_room(tmp_path, scenario) == in_room(tmp_path, again)


def test_a_policy_is_erased_and_its_name_is_free(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        id = (await room.decide("u")).id
        answers = await asyncio.gather(
            room.book.delete("shop"), room.book.delete("shop"), return_exceptions=True
        )
        assert [getattr(answer, "status", None) for answer in answers] == [None, 404]
        assert room.book.names == []
        assert await room.book.put("shop", PLAIN) == (1, True)
        assert (await room.reward(id, 1.0)).status == 404

    in_room(tmp_path, scenario)


def test_a_policy_that_is_erased_while_it_decides_comes_not_back(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        room.storage.may_go_on.clear()
        waiting = asyncio.ensure_future(room.decide("u"))
        await room.storage.holds_one()
        deleting = asyncio.ensure_future(room.book.delete("shop"))
        await asyncio.sleep(0.01)
        room.storage.may_go_on.set()
        outcome, _ = await asyncio.gather(waiting, deleting)
        assert getattr(outcome, "status", 200) in (200, 503)
        await ready(room)
        assert room.book.all_turns == []

    in_room(tmp_path, scenario)
