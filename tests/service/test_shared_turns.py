"""Requests that come together are one group, each with its own answer."""

import asyncio
import threading

import pytest
from support.shared_stores import SETTINGS, books

from hierbandits.service.api_problem import Problem
from hierbandits.service.request_queue import RequestQueue
from hierbandits.service.wire import DecisionRequest


def with_turns(url, scenario):
    with books(url) as (book,):
        book.put("shop", SETTINGS["armed"])
        asyncio.run(scenario(book.turns("shop")))


def test_requests_that_come_together_are_one_round(store_url):
    async def scenario(turns):
        rounds, decide = [], turns.live.decide
        turns.live.decide = lambda requests: rounds.append(len(requests)) or decide(requests)
        wanted = [turns.ask("decide", DecisionRequest(f"t{i}")) for i in range(20)]
        made = await asyncio.gather(*wanted)
        assert [one.task for one in made] == [f"t{i}" for i in range(20)]
        assert rounds == [20]
        mixed = [turns.ask("reward", (one.id, 1.0)) for one in made[:5]]
        mixed += [turns.ask("decide", DecisionRequest("t")), turns.ask("call", lambda: 7)]
        *told, made, seven = await asyncio.gather(*mixed)
        assert {one.status for one in told} == {"learned"}
        assert (made.task, seven) == ("t", 7)

    with_turns(store_url, scenario)


def test_a_problem_is_raised_for_who_has_it_alone(store_url):
    async def scenario(turns):
        wanted = [DecisionRequest("t"), DecisionRequest("t", arms=["none"])]
        good, bad = await asyncio.gather(
            *(turns.ask("decide", one) for one in wanted), return_exceptions=True
        )
        assert good.task == "t"
        assert isinstance(bad, Problem)
        with pytest.raises(ZeroDivisionError):
            await turns.ask("call", lambda: 1 / 0)
        assert turns.waiting == 0

    with_turns(store_url, scenario)


def test_an_error_that_nobody_expects_is_told_to_all_and_the_next_are_served(store_url):
    async def scenario(turns):
        decide, turns.live.decide = turns.live.decide, lambda requests: []
        wanted = [turns.ask("decide", DecisionRequest("t")) for _ in range(2)]
        told = await asyncio.gather(*wanted, return_exceptions=True)
        assert [type(one) for one in told] == [ValueError] * 2
        turns.live.decide = decide
        assert (await turns.ask("decide", DecisionRequest("t"))).task == "t"

    with_turns(store_url, scenario)


def test_too_many_requests_are_refused(store_url):
    async def scenario(turns):
        turns._queue = RequestQueue(2)
        go_on = threading.Event()
        held = [asyncio.ensure_future(turns.ask("call", go_on.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Problem, match="too many requests"):
            await turns.ask("call", lambda: None)
        go_on.set()
        assert await asyncio.gather(*held) == [True, True]

    with_turns(store_url, scenario)


def test_growth_wakes_who_folds(store_url):
    async def scenario(turns):
        woken = threading.Event()
        turns._on_grown = woken.set
        made = await turns.ask("decide", DecisionRequest("t"))
        assert not woken.is_set()
        await turns.ask("reward", (made.id, 1.0))
        assert woken.is_set()
        turns.close()

    with_turns(store_url, scenario)
