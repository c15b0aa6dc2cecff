"""A ledger goes from a folder to a store and back: the same events, the same beliefs."""

import numpy as np
import pytest
from support.local_services import LocalService
from support.service_lives import KINDS, Core, assert_close, live_on, task_of

from hierbandits.service import ledger_move
from hierbandits.service.data_place import DataPlace
from hierbandits.service.doctor import doctor
from hierbandits.service.ledger_move import move_ledgers
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.postgres_writer import InUse
from hierbandits.service.snapshots import from_ledger
from hierbandits.service.task_erasure import TaskErasure


def fill(folder, kinds, steps=40):
    """A folder with a policy of each kind, some of which have lived and lost a task."""
    folder.mkdir()
    for seed, kind in enumerate(kinds):
        core = Core(folder / "ledger.db", KINDS[kind], name=f"policy-{seed}")
        live_on(core, np.random.default_rng(seed), steps=steps)
        if seed % 2:
            task = task_of(core.live.settings, 0)
            until = core.live.forget(tuple(task) if isinstance(task, list) else task)
            core.store()
            core.storage.rewrite(core.record.id, TaskErasure(task, until))
        core.storage.close()
    return DataPlace(folder)


def agents(place):
    """The agents of all policies, from the ledger alone."""
    storage, found = place.storage(read_only=True), {}
    for record in storage.policies():
        settings = PolicySettings.from_json(storage.versions(record.id)[-1].settings)
        until = storage.last(record.id)
        found[record.name] = from_ledger(record, settings, storage, lambda event: None, until=until)
    storage.close()
    return found


def test_every_kind_of_policy_goes_there_and_back(tmp_path, store_url):
    source = fill(tmp_path / "source", KINDS)
    store, back = DataPlace(tmp_path, store_url), DataPlace(tmp_path / "back")
    moved = move_ledgers(source, store)
    assert [one.name for one in moved] == sorted(f"policy-{i}" for i in range(len(KINDS)))
    assert doctor(tmp_path / "none", store=store_url).faults == []
    assert move_ledgers(store, back) == moved
    assert doctor(back.folder).faults == []
    known = [agents(place) for place in (source, store, back)]
    for name, agent in known[0].items():
        for other in known[1:]:
            assert_close(agent, other[name])
            assert {d.id for d in agent.pending} == {d.id for d in other[name].pending}


def test_a_service_goes_on_where_it_stood(tmp_path, store_url):
    folder, shop = tmp_path / "data", "/policies/shop"
    with LocalService(folder) as local:
        local.request("PUT", shop, json={"arms": ["a", "b"], "sticky": True})
        for id in ("one", "two"):
            local.request("POST", f"{shop}/decisions", json={"task": "t", "id": id})
        own = local.request("POST", f"{shop}/decisions", json={"task": "t"}).json()
        local.request("POST", f"{shop}/decisions/one/reward", json={"value": 1.0})
    secret = DataPlace(folder).tokens().create("ops", ["admin"], None, 0.0)
    move_ledgers(DataPlace(folder), DataPlace(tmp_path, store_url))
    with LocalService(tmp_path / "w", store=store_url, needs_tokens=True, token=secret) as local:
        for id, status in (("one", "duplicate"), ("two", "learned"), (own["id"], "learned")):
            told = local.request("POST", f"{shop}/decisions/{id}/reward", json={"value": 1.0})
            assert told.json()["status"] == status, id
        kept = local.request("POST", f"{shop}/decisions", json={"task": "t"}).json()
        assert (kept["arm"], kept["group"]) == (own["arm"], "sticky")
        again = local.request("POST", f"{shop}/decisions", json={"task": "t", "id": "two"})
        assert again.json()["duplicate"]


def test_a_move_that_was_cut_off_goes_on(tmp_path, store_url, monkeypatch):
    source, store = fill(tmp_path / "source", ["armed", "linear"]), DataPlace(tmp_path, store_url)

    class Cut(Exception):
        pass

    def cut(self, record):
        raise Cut

    whole = ledger_move.PolicyArchive.batches
    calls = iter([whole, cut])
    monkeypatch.setattr(
        ledger_move.PolicyArchive, "batches", lambda self, record: next(calls)(self, record)
    )
    with pytest.raises(Cut):
        move_ledgers(source, store)
    monkeypatch.setattr(ledger_move.PolicyArchive, "batches", whole)
    assert [one.was_there for one in move_ledgers(source, store)] == [True, False]
    assert [one.was_there for one in move_ledgers(source, store)] == [True, True]


def test_what_is_in_the_way_is_refused_and_nothing_changes(tmp_path, store_url):
    source, store = fill(tmp_path / "source", ["armed"], 10), DataPlace(tmp_path, store_url)
    storage = store.storage()
    with pytest.raises(InUse, match="store must not be in use"):
        move_ledgers(source, store)
    stranger = storage.create_policy("policy-0", b"{}", 0.0)
    storage.close()
    with pytest.raises(ValueError, match="has another policy 'policy-0'"):
        move_ledgers(source, store)
    storage = store.storage()
    assert storage.policies() == [stranger]
    storage.delete_policy(stranger.id)
    stranger = storage.create_policy("stranger", b"{}", 0.0)
    storage.close()
    with pytest.raises(ValueError, match="has policy 'stranger'"):
        move_ledgers(source, store)
    with (
        LocalService(source.folder),
        pytest.raises(RuntimeError, match="data folder must not be in use"),
    ):
        move_ledgers(source, store)
    with pytest.raises(ValueError, match=r"without ledger\.db"):
        move_ledgers(DataPlace(tmp_path / "none"), store)
    reader = store.storage(read_only=True)
    assert reader.policies() == [stranger]
    reader.close()


def test_tokens_of_the_target_are_not_overwritten(tmp_path, store_url):
    source, store = fill(tmp_path / "source", ["armed"], 5), DataPlace(tmp_path, store_url)
    source.tokens().create("ops", ["admin"], None, 0.0)
    theirs = store.tokens()
    theirs.create("other", ["admin"], None, 0.0)
    with pytest.raises(ValueError, match="must have no tokens of its own"):
        move_ledgers(source, store)
    theirs.refresh()
    assert [one.name for one in theirs.all()] == ["other"]
    theirs.close()
