import asyncio

import pytest

from hierbandits.service import kept_answers
from hierbandits.service.kept_answers import KeptAnswers


class Slow:
    """Makes the next number in so many seconds of a clock by hand."""

    def __init__(self, seconds):
        self.seconds, self.now, self.made = seconds, 0.0, 0
        self.kept = KeptAnswers(lambda: self.now)

    async def make(self):
        self.now += self.seconds
        self.made += 1
        return self.made

    async def ask(self, question="q"):
        return await self.kept.of(question, self.make)


def test_quick_answers_are_made_each_time():
    async def ask():
        one = Slow(0.45)
        return [await one.ask() for _ in range(3)]

    assert asyncio.run(ask()) == [1, 2, 3]


def test_a_slow_answer_is_given_again_for_ten_times_as_long():
    async def ask():
        one = Slow(2.0)
        told = [await one.ask(), await one.ask()]
        one.now += 19.9
        told.append(await one.ask())
        told.append(await one.ask("another"))
        one.now += 0.2
        told.append(await one.ask())
        return told

    assert asyncio.run(ask()) == [1, 1, 1, 2, 3]


def test_who_asks_while_a_slow_answer_is_made_waits_for_it_with_the_others():
    async def ask():
        one, go = Slow(0.0), asyncio.Event()

        async def wait():
            await go.wait()
            return await one.make()

        first = asyncio.ensure_future(one.kept.of("q", wait))
        await asyncio.sleep(0)
        one.now += 0.45  # it may still be quick
        second = asyncio.ensure_future(one.kept.of("q", wait))
        await asyncio.sleep(0)
        one.now += 1.0
        third = asyncio.ensure_future(one.kept.of("q", wait))
        await asyncio.sleep(0)
        third.cancel()  # who gives up does not take the answer from others
        fourth = asyncio.ensure_future(one.kept.of("q", wait))
        await asyncio.sleep(0)
        go.set()
        return await asyncio.gather(first, second, fourth), one.made

    assert asyncio.run(ask()) == ([1, 2, 2], 2)


def test_an_error_is_told_and_not_kept():
    async def ask():
        one = Slow(5.0)

        async def fail():
            one.now += 5.0
            raise RuntimeError("no")

        with pytest.raises(RuntimeError, match="no"):
            await one.kept.of("q", fail)
        return await one.ask()

    assert asyncio.run(ask()) == 1


def test_only_the_latest_questions_are_kept(monkeypatch):
    monkeypatch.setattr(kept_answers, "MOST", 2)

    async def ask():
        one = Slow(1.0)
        return [await one.ask(question) for question in "abacaba"]

    assert asyncio.run(ask()) == [1, 2, 1, 3, 1, 4, 1]
