import asyncio

import pytest
from support.shared_stores import SETTINGS, Clock, books

from hierbandits.service import shared_reader_process
from hierbandits.service.data_place import DataPlace
from hierbandits.service.ledger_desk import LedgerDesk
from hierbandits.service.shared_reader_process import SharedReader
from hierbandits.service.wire import DecisionRequest


@pytest.fixture
def policies(store_url, tmp_path):
    """Three policies of a store, with a decision each, and where to ask."""
    with books(store_url) as (book,):
        for name in "abc":
            book.put(name, SETTINGS["armed"])
            book.turns(name).live.decide([DecisionRequest("t")])
        yield book, [book.record(name).id for name in "abc"], DataPlace(tmp_path, store_url)


def test_a_process_of_its_own_answers(policies):
    _, (policy, *_), place = policies

    async def talk():
        desk = LedgerDesk(place, module="hierbandits.service.shared_reader_process")
        told = await desk.ask({"policy": policy})
        await desk.close()
        return told

    told = asyncio.run(talk())
    assert (told["counts"]["decisions"], told["counted_to"]) == (1, None)


def test_what_takes_long_is_told_again_and_few_histories_are_remembered(policies, monkeypatch):
    book, (first, *others), place = policies
    clock = Clock(0.0)
    reader = SharedReader(place, clock)
    made = shared_reader_process.SharedHistory

    class Slow(made):
        def look(self, most_seconds):
            clock.now += 3.0
            return super().look(most_seconds)

    def count():
        return reader.answer({"policy": first})["counts"]["decisions"]

    def decide():
        book.turns("a").live.decide([DecisionRequest("t")])

    monkeypatch.setattr(shared_reader_process, "SharedHistory", Slow)
    monkeypatch.setattr(shared_reader_process, "MANY", 2)
    assert count() == 1
    decide()
    assert count() == 2  # these were few
    decide()
    assert count() == 3
    decide()
    clock.now += 29.9
    assert count() == 3
    clock.now += 0.2
    assert count() == 4
    monkeypatch.setattr(shared_reader_process, "MOST_HISTORIES", 2)
    for policy in others:
        assert reader.answer({"policy": policy})["counts"]["decisions"] == 1
    assert list(reader._histories) == others
    decide()
    assert count() == 5  # it was forgotten, what was told of it too
    reader.close()
