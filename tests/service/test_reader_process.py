"""What the other process says of a ledger, asked without one."""

import numpy as np
import pytest
from support.local_services import LocalService

from hierbandits.service import reader_process
from hierbandits.service.data_place import DataPlace
from hierbandits.service.reader_process import LedgerReader


@pytest.fixture
def served(tmp_path):
    """A policy with some decisions and rewards, and a reader of its folder."""
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/p", json={"arms": ["a", "b"], "draws": 5})
        reader = LedgerReader(DataPlace(tmp_path / "data"))
        yield local, reader
        reader.close()


def decide(local, task, **more):
    return local.request("POST", "/policies/p/decisions", json={"task": task} | more).json()["id"]


def ask(local, reader, what, **more):
    live = local.service.book.turns("p").live
    about = {"ask": what, "policy": live.record.id, "last": live.number}
    return reader.answer(about | more)


def test_the_latest_decisions_come_first_with_their_rewards(served):
    local, reader = served
    ids = [decide(local, f"t{n}") for n in range(4)]
    local.request("POST", f"/policies/p/decisions/{ids[1]}/reward", json={"value": 0.5})
    found = ask(local, reader, "recent", limit=3)["decisions"]
    assert [(one["label"], one["reward"]) for one in found] == [
        ("t3", None), ("t2", None), ("t1", 0.5)
    ]  # fmt: skip
    assert 0 < found[0]["propensity"] <= 1
    assert ask(local, reader, "recent", limit=0)["decisions"] == []


def test_the_search_for_decisions_is_bounded(served, monkeypatch):
    local, reader = served
    id = decide(local, "t")
    for value in range(5):
        method = "PUT" if value else "POST"
        local.request(method, f"/policies/p/decisions/{id}/reward", json={"value": float(value)})
    assert len(ask(local, reader, "recent", limit=5)["decisions"]) == 1
    monkeypatch.setattr(reader_process, "MOST_RECENT_EVENTS", 3)
    assert ask(local, reader, "recent", limit=5)["decisions"] == []


def test_a_history_goes_on_where_it_stood_and_after_a_restart(served, tmp_path, monkeypatch):
    local, reader = served
    monkeypatch.setattr(reader_process, "_SAVED_EVERY", 2)
    rng = np.random.default_rng(0)
    for n in range(6):
        id = decide(local, f"t{n}")
        local.request("POST", f"/policies/p/decisions/{id}/reward", json={"value": rng.random()})
        found = ask(local, reader, "history")
        assert found["counts"]["decisions"] == found["counts"]["rewarded"] == n + 1
    other = LedgerReader(DataPlace(tmp_path / "data"))
    assert ask(local, other, "history") == found
    assert other._histories  # it has read what the first one kept
    other.close()


def test_a_history_that_is_damaged_is_made_anew(served, tmp_path):
    local, reader = served
    decide(local, "t")
    policy = local.service.book.record("p").id
    (tmp_path / "data" / "snapshots").mkdir(exist_ok=True)
    (tmp_path / "data" / "snapshots" / f"{policy}.history").write_text('{"number": 99}')
    assert ask(local, reader, "history")["counts"]["decisions"] == 1


def test_an_account_is_found_by_either_kind_of_id(served):
    local, reader = served
    for id in (decide(local, "t"), decide(local, "t", id="mine / ☕")):
        assert ask(local, reader, "account", id=id)["problem"] is None
        assert reader.account_of("p", id)["decision"]["id"] == id
    assert "no such decision" in ask(local, reader, "account", id="other")["problem"]
    with pytest.raises(LookupError, match="'q'"):
        reader.account_of("q", "x")
