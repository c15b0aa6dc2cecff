"""Evaluations in processes of their own: how many, how long, and how they end."""

import asyncio
import os
import time

import pytest
from support.logged_worlds import LoggedWorld
from support.processes import processes_of

from hierbandits.service.api_problem import Problem
from hierbandits.service.data_place import DataPlace
from hierbandits.service.evaluations import KEPT, Evaluations
from hierbandits.service.storage import PolicyRecord


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = LoggedWorld(tmp_path_factory.mktemp("world") / "data", rounds=10)
    yield world
    world.close()


def children():
    """The processes that this one has started."""
    return processes_of(os.getpid())


def start(world, evaluations, record=None):
    return evaluations.start(record or world.core.record, world.core.live.settings, 0.95)


async def ended(evaluations, record, id):
    """An evaluation when it runs no more."""
    while (found := evaluations.find(record, id)).state == "running":
        await asyncio.sleep(0.02)
    return found


def leaves_nothing(folder, before):
    assert children() <= before
    assert list((folder / "evaluations").glob("*")) == []


def test_what_is_found_is_kept(world):
    async def scenario():
        evaluations, record = Evaluations(DataPlace(world.folder)), world.core.record
        begun = start(world, evaluations)
        assert (begun.state, begun.findings, begun.policy) == ("running", None, "shop")
        done = await ended(evaluations, record, begun.id)
        assert (done.state, done.problem) == ("done", None)
        assert done.findings.rows + done.findings.rows_of_training == 200
        assert done.seconds > 0
        assert evaluations.find(record, begun.id) is done
        for other, id in ((record, "no-such"), (PolicyRecord(1, "shop", b"", 0.0), begun.id)):
            with pytest.raises(Problem, match="is not known"):
                evaluations.find(other, id)
        await evaluations.forget(record.id)
        with pytest.raises(Problem, match="is not known"):
            evaluations.find(record, begun.id)

    before = children()
    asyncio.run(scenario())
    leaves_nothing(world.folder, before)


def test_they_survive_the_service(world):
    async def first():
        evaluations, record = Evaluations(DataPlace(world.folder)), world.core.record
        done = await ended(evaluations, record, start(world, evaluations).id)
        running = start(world, evaluations)
        image = (world.folder / "evaluations.json").read_bytes()
        await evaluations.stop()
        return done, running.id, image

    async def second():
        evaluations, record = Evaluations(DataPlace(world.folder)), world.core.record
        again, cut = evaluations.find(record, done.id), evaluations.find(record, running)
        assert (again.state, again.findings) == ("done", done.findings)
        assert (cut.state, cut.problem.code) == ("stopped", "interrupted")
        await evaluations.forget(record.id)

    done, running, image = asyncio.run(first())
    (world.folder / "evaluations.json").write_bytes(image)  # as a kill would have left it
    asyncio.run(second())
    with pytest.raises(Problem, match="is not known"):
        Evaluations(DataPlace(world.folder)).find(world.core.record, done.id)
    (world.folder / "evaluations.json").write_bytes(b"{broken")
    assert Evaluations(DataPlace(world.folder))._jobs == {}


def test_more_than_a_few_at_once_are_refused_and_all_can_be_stopped(world):
    async def scenario():
        evaluations = Evaluations(DataPlace(world.folder), at_once=2)
        record, other = world.core.record, PolicyRecord(1, "other", b"", 0.0)
        ids = [start(world, evaluations).id, start(world, evaluations, other).id]
        with pytest.raises(Problem) as refused:
            start(world, evaluations)
        assert (refused.value.status, refused.value.retry_after) == (429, 10.0)
        await asyncio.sleep(0.2)
        assert len(children() - before) == 2
        await evaluations.stop(other.id)
        assert evaluations.find(other, ids[1]).state == "stopped"
        assert evaluations.find(other, ids[1]).problem.code == "stopped"
        assert evaluations.find(record, ids[0]).state == "running"
        start(world, evaluations)
        await evaluations.stop()
        assert evaluations.find(record, ids[0]).state == "stopped"
        leaves_nothing(world.folder, before)

    before = children()
    asyncio.run(scenario())


def test_one_that_takes_too_long_is_stopped(world):
    async def scenario():
        evaluations, record = Evaluations(DataPlace(world.folder), patience=0.1), world.core.record
        found = await ended(evaluations, record, start(world, evaluations).id)
        assert (found.state, found.problem.code, found.problem.status) == (
            "stopped",
            "too_slow",
            504,
        )
        assert "at most 0.1 seconds" in found.problem.detail

    before = children()
    asyncio.run(scenario())
    leaves_nothing(world.folder, before)


def test_a_process_that_fails_is_told_and_logged(world, caplog):
    async def scenario():
        evaluations, record = Evaluations(DataPlace(world.folder)), world.core.record
        begun = start(world, evaluations)
        while not (mine := children() - before):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        for process in mine:
            os.kill(process, 9)
        found = await ended(evaluations, record, begun.id)
        assert (found.state, found.problem.status) == ("stopped", 500)
        assert "an evaluation failed" in caplog.text

    before = children()
    asyncio.run(scenario())
    leaves_nothing(world.folder, before)


def test_the_oldest_are_forgotten_and_what_a_crash_left_is_deleted(world):
    left = world.folder / "evaluations" / "old" / "log.parquet"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"names of tasks")

    async def scenario():
        evaluations, record, ids = Evaluations(DataPlace(world.folder)), world.core.record, []
        assert not left.exists()
        for _ in range(KEPT + 3):
            ids.append(start(world, evaluations).id)
            await evaluations.stop()
        for id in ids[:3]:
            with pytest.raises(Problem, match="is not known"):
                evaluations.find(record, id)
        assert all(evaluations.find(record, id).state == "stopped" for id in ids[3:])

    before, begun = children(), time.monotonic()
    asyncio.run(scenario())
    leaves_nothing(world.folder, before)
    assert time.monotonic() - begun < 60
