"""The client for asyncio: the same calls, awaited."""

import asyncio
import inspect

import pytest
from support.scripted_server import scripted
from support.servers import Server

import hierbandits as hb
from hierbandits.client import Conflict, Unavailable, client_calls
from hierbandits.client.client_request import ClientRequest
from hierbandits.service.api_examples import EXAMPLES


def test_many_at_once_against_a_real_service(tmp_path):
    async def act(url):
        async with hb.AsyncClient(url, timeout=120) as client:
            assert (await client.put_policy("shop", {"arms": ["x", "y"]})).created
            decisions = await asyncio.gather(*(client.decide("shop", f"t{i}") for i in range(30)))
            rewards = [client.reward("shop", one.id, 1.0) for one in decisions]
            assert {one.status for one in await asyncio.gather(*rewards)} == {"learned"}
            with pytest.raises(Conflict):
                await client.reward("shop", decisions[0].id, 2.0)
            assert repr(client) == f"AsyncClient({url}, without a token)"
            return await client.policy("shop")

    with Server(tmp_path / "data") as server:
        info = asyncio.run(act(server.url))
    assert (info.tasks, info.rewards, info.pending) == (30, 30, 0)


def test_what_may_work_later_is_repeated_and_other_tasks_go_on():
    reply = {"id": "a", "status": "learned"}

    async def act(url):
        async with hb.AsyncClient(url, retries=2) as client:
            receipt = await client.reward("shop", "a", 1.0)
            with pytest.raises(Unavailable, match="the words"):
                await client.reward("shop", "a", 1.0)
            return receipt

    words = {"detail": "the words"}
    with scripted(None, (503, words), (200, reply), (429, words)) as script:
        assert asyncio.run(act(script.url)).status == "learned"
        assert len(script.asked) == 6


def test_both_clients_have_all_calls():
    calls = {
        name
        for name, value in vars(client_calls).items()
        if inspect.isfunction(value) and "ClientRequest[" in str(inspect.signature(value))
    }
    calls = {name for name in calls if not name.startswith("_")} - {ClientRequest.__name__}
    assert len(calls) >= 16
    for kind in (hb.Client, hb.AsyncClient):
        for name in calls:
            assert inspect.unwrap(getattr(kind, name)) is getattr(client_calls, name)
            assert inspect.iscoroutinefunction(getattr(kind, name)) == (kind is hb.AsyncClient)


def test_an_evaluation_is_waited_for():
    running = {"id": "e", "policy": "shop", "state": "running", "started": 1.0, "seconds": 0.5}
    done = running | {"state": "done", "findings": EXAMPLES["show_evaluation"][1]["findings"]}
    ended = running | {"state": "stopped", "problem": {"status": 503, "detail": "the words"}}

    async def act(url):
        async with hb.AsyncClient(url, retries=0) as client:
            found = await client.evaluate("shop", {"rule": "HierTS"})
            with pytest.raises(Unavailable, match="the words"):
                await client.evaluate("shop", {})
            return found

    script = (202, running), (200, running), (200, done), (202, running), (200, ended)
    with scripted(*script) as server:
        assert asyncio.run(act(server.url)).better_than_log
    assert len(server.asked) == 5
