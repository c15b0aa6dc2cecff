"""One thread writes what waits, together; each hears what became of theirs."""

import asyncio
import gc
import weakref

import pytest
from support.held_storage import HeldStorage

from hierbandits.service.group_commit import GroupCommit
from hierbandits.service.sqlite_storage import SqliteStorage
from hierbandits.service.storage import Batch


class Owner:
    """Whose events are written."""


@pytest.fixture
def storage(tmp_path):
    own = HeldStorage(SqliteStorage(tmp_path / "a.db"))
    yield own
    own.close()


def run(storage, scenario, **parts):
    async def main():
        commits = GroupCommit(storage, **parts)
        commits.start()

        def submit(batch, owner):
            future = asyncio.get_running_loop().create_future()
            commits.submit(batch, owner, future.set_result)
            return future

        try:
            return await scenario(submit)
        finally:
            storage.may_go_on.set()
            await commits.close()

    return asyncio.run(main())


def test_what_waits_is_written_in_one_commit(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    sizes = []

    async def scenario(submit):
        storage.may_go_on.clear()
        owner = Owner()
        futures = [submit(Batch(events=[(policy, 1, b"x")]), owner)]
        await storage.holds_one()  # the thread takes the first alone
        futures += [submit(Batch(events=[(policy, n, b"x")]), owner) for n in range(2, 30)]
        assert storage.last(policy) == 0
        storage.may_go_on.set()
        return await asyncio.gather(*futures)

    answers = run(storage, scenario, watch=lambda size, seconds: sizes.append(size))
    assert answers == [None] * 29
    assert storage.last(policy) == 29
    assert (len(sizes), sum(sizes)) == (2, 29)


def test_nobody_is_told_before_it_is_stored(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id

    async def scenario(submit):
        future = submit(Batch(events=[(policy, 1, b"x")]), Owner())
        future.add_done_callback(lambda _: seen.append(storage.last(policy)))
        assert await future is None

    seen = []
    run(storage, scenario)
    assert seen == [1]


def test_one_bad_batch_does_not_take_others_with_it_but_all_later_ones_of_its_owner(storage):
    one, two = (storage.create_policy(name, b"{}", 0.0).id for name in "ab")
    storage.fails = lambda batch: any(data == b"bad" for _, _, data in batch.events)

    async def scenario(submit):
        storage.may_go_on.clear()
        mine, yours = Owner(), Owner()
        first = submit(Batch(events=[(two, 1, b"y")]), yours)
        await storage.holds_one()
        bad = submit(Batch(events=[(one, 1, b"bad")]), mine)
        later = submit(Batch(events=[(one, 2, b"x")]), mine)
        empty = submit(Batch(), mine)
        good = submit(Batch(events=[(two, 2, b"y")]), yours)
        storage.may_go_on.set()
        answers = [await one for one in (first, good, bad, later, empty)]
        storage.fails = lambda batch: False
        answers.append(await submit(Batch(events=[(one, 1, b"x")]), mine))  # lost for good
        answers.append(await submit(Batch(events=[(one, 1, b"x")]), Owner()))
        return answers

    first, good, bad, later, empty, lost, fresh = run(storage, scenario)
    assert (first, good, fresh) == (None, None, None)
    assert "disk is full" in str(bad)
    assert all("events before these are lost" in str(one) for one in (later, empty, lost))
    assert (storage.last(one), storage.last(two)) == (1, 2)


def test_an_owner_whose_events_are_lost_is_not_kept(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    storage.fails = lambda batch: True

    async def scenario(submit):
        owner = Owner()
        assert await submit(Batch(events=[(policy, 1, b"x")]), owner) is not None
        gone = weakref.ref(owner)
        del owner
        for _ in range(1000):  # until the thread waits again
            gc.collect()
            if gone() is None:
                return True
            await asyncio.sleep(0.005)
        return False

    assert run(storage, scenario)


def test_closing_writes_what_waits(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id

    async def main():
        commits = GroupCommit(storage)
        commits.start()
        for number in range(1, 20):
            commits.submit(Batch(events=[(policy, number, b"x")]), commits, lambda error: None)
        await commits.close()
        assert storage.last(policy) == 19

    asyncio.run(main())
