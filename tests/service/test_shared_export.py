"""Shared policies as files: all of one moment, in an order that can be told again."""

import io
import json
import tracemalloc

import numpy as np
import pytest
from support.shared_archives import exported
from support.shared_stores import SETTINGS, act, books

from hierbandits.service import shared_export
from hierbandits.service.api_problem import Problem
from hierbandits.service.shared_export import SharedLog, write_shared
from hierbandits.service.shared_version import ArmChange
from hierbandits.service.wire import DecisionRequest


def kinds(archive):
    return [json.loads(data)["kind"] for data in archive.events]


def test_rewards_come_after_their_decisions_whatever_clocks_say(store_url, tmp_path):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        now = live.clock()
        live.clock = lambda: now
        live._acting.agent._books.clock = lambda: now
        live.decide([DecisionRequest("t", id="one"), DecisionRequest("u", id="two")])
        live.clock = lambda: now - 100.0  # another worker's
        live.reward([("two", 1.0)])
        live.correct("two", 3.0)
        archive = exported(live, book.links, tmp_path / "archive")
        assert kinds(archive) == ["decide", "decide", "reward"]
        last = json.loads(list(archive.events)[-1])
        assert (last["ids"], last["values"], last["time"]) == (["two"], [3.0], now - 100.0)
        archive.checked_agent()


def test_an_arm_is_there_before_it_is_played_whatever_clocks_say(store_url, tmp_path):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        book.change_arms(live, ArmChange("add_arm", "d", by="ann"))
        with book.links.transaction() as db:  # the server's clock is ahead
            db.execute("UPDATE shared_versions SET created = created + 1000 WHERE number = 2")
        live.decide([DecisionRequest("t", arms=["d"])])
        archive = exported(live, book.links, tmp_path / "archive")
        assert kinds(archive) == ["add_arm", "decide"]
        assert [(one.number, one.after) for one in archive.versions] == [(1, 0), (2, 0)]
        assert archive.checked_agent().arms == ("a", "b", "c", "d")


def test_a_file_is_of_one_moment_while_workers_go_on(store_url, tmp_path, monkeypatch):
    monkeypatch.setattr(shared_export, "_AT_ONCE", 3)
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        rng = np.random.default_rng(0)
        before = len(act(live, rng, rounds=5))
        whole = SharedLog.events

        def meanwhile(self):
            for number, data in enumerate(whole(self)):
                if number == 4:
                    act(live, rng, rounds=2)
                    live.correct(first, 9.0)
                    book.folder(live).forget(gone)
                    book.change_arms(live, ArmChange("retire_arm", "a"))
                yield data

        ((first, gone),) = book.links.read("SELECT id, task_key FROM shared_decisions LIMIT 1")
        first = first.decode()
        monkeypatch.setattr(SharedLog, "events", meanwhile)
        archive = exported(live, book.links, tmp_path / "archive")
        assert (kinds(archive).count("decide"), kinds(archive).count("reward")) == (before, before)
        assert len(archive.versions) == 1
        assert archive.checked_agent().belief.num_rewards.sum() == before
        book.delete("shop")
        with pytest.raises(Problem, match="is not known"):
            write_shared(live.record, book.links, io.BytesIO())


class Nowhere(io.RawIOBase):
    """A file that keeps nothing."""

    def writable(self):
        return True

    def write(self, data):
        return len(data)


def test_memory_does_not_grow_with_the_log(store_url):
    sql = (
        "INSERT INTO shared_decisions SELECT policy, decode(lpad(i::text, 8, '0'), 'escape'), "
        "task_key, data, at FROM shared_decisions, generate_series(%s::int, %s) AS i "
        "WHERE id = 'first'"
    )
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        live.decide([DecisionRequest("t", id="first")])
        peaks, last = [], 0
        for number in (5_000, 20_000):
            with book.links.transaction(60.0) as db:
                db.execute(sql, (last + 1, number))
            last = number
            tracemalloc.start()
            write_shared(live.record, book.links, Nowhere())
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[1] < 1.3 * peaks[0]
