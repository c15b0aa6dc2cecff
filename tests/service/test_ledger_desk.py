import asyncio
import os
import signal

import pytest
from support.local_services import LocalService

from hierbandits.service.api_problem import Problem
from hierbandits.service.data_place import DataPlace
from hierbandits.service.ledger_desk import LedgerDesk


@pytest.fixture
def folder(tmp_path):
    """A folder with a policy, and the number of that policy."""
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/p", json={"arms": ["a"]})
        yield tmp_path / "data", local.service.book.record("p").id


def test_one_process_answers_again_and_is_replaced_when_it_dies(folder):
    path, policy = folder
    question = {"ask": "history", "policy": policy, "last": 0}

    async def talk():
        desk = LedgerDesk(DataPlace(path), idle=-1.0)
        answers = await asyncio.gather(*(desk.ask(question) for _ in range(3)))
        first = desk._process.pid
        assert [one["counts"]["decisions"] for one in answers] == [0, 0, 0]
        with pytest.raises(Problem, match="cannot be read"):
            await desk.ask({"ask": "history", "policy": 0})
        assert desk._process.pid == first  # a question that fails ends nothing
        os.kill(first, signal.SIGKILL)
        await asyncio.gather(desk.ask(question), return_exceptions=True)  # it may be seen late
        assert (await desk.ask(question))["event"] == 1  # that it was created
        second = desk._process
        assert second.pid != first
        await desk.rest()
        assert desk._process is None
        assert second.is_over
        await desk.close()

    asyncio.run(talk())


def test_who_takes_too_long_is_given_up(folder):
    path, policy = folder

    async def talk():
        desk = LedgerDesk(DataPlace(path), patience=0.001)
        with pytest.raises(Problem) as caught:
            await desk.ask({"ask": "history", "policy": policy, "last": 0})
        assert caught.value.status == 503
        assert desk._process is None

    asyncio.run(talk())
