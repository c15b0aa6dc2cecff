"""Policies of a folder go to workers that share a store, and back: nothing is another."""

import numpy as np
import pytest
from msgspec.structs import replace
from support.service_lives import KINDS, Core, live_on
from support.shared_archives import rows_of
from support.shared_stores import SETTINGS, act, books, same_posteriors

from hierbandits.service import shared_move
from hierbandits.service.data_place import DataPlace
from hierbandits.service.doctor import doctor
from hierbandits.service.shared_move import move_to_folder, move_to_workers
from hierbandits.service.snapshots import from_ledger
from hierbandits.service.task_erasure import TaskErasure
from hierbandits.service.wire import DecisionRequest

OF_KIND = {"armed": SETTINGS["armed"], "linear": KINDS["linear"]}


def lived(core):
    """Decisions and rewards of any order, corrected and late ones, and arms that came and went."""
    rng = np.random.default_rng(9)
    if not isinstance(core.live.settings.arms, list):
        live_on(core, rng, steps=50)
        return
    for i in range(30):
        id = core.decide(f"t{i % 5}", id=f"own {i}" if i % 3 else None).id
        if i % 4:
            core.reward(id, float(rng.normal()))
        if i == 10:
            core.live.correct(id, 7.0)
            core.live.add_arm("d", "ann", hyper_mean=0.4, hyper_std=0.8, task_std=0.5)
            core.live.retire_arm("a", "ann")


@pytest.fixture
def source(tmp_path):
    """A folder with a policy of each kind, that have lived, have a new version and lost a task."""
    (tmp_path / "source").mkdir()
    for name, settings in OF_KIND.items():
        core = Core(tmp_path / "source" / "ledger.db", settings, name=name)
        lived(core)
        task = core.live.agent.tasks[0]
        until = core.live.forget(task)
        core.store()
        core.storage.rewrite(core.record.id, TaskErasure(task, until))
        core.become(replace(settings, floor=0.1))
        core.decide("last")
        core.store()
        core.storage.close()
    place = DataPlace(tmp_path / "source")
    place.tokens().create("ops", ["admin"], None, 0.0)
    return place


def agents(place):
    """The agents of all policies of a folder, from the ledger alone."""
    storage = place.storage(read_only=True)
    for record in storage.policies():
        until = storage.last(record.id)
        settings = replace(OF_KIND[record.name], floor=0.1)
        yield record.name, from_ledger(record, settings, storage, lambda event: None, until=until)
    storage.close()


def test_all_policies_go_to_workers_and_back(source, store_url, tmp_path):
    store, back = DataPlace(tmp_path, store_url), DataPlace(tmp_path / "back")
    moved = move_to_workers(source, store)
    assert [(one.name, one.versions, one.was_there) for one in moved] == [
        ("armed", 2, False),
        ("linear", 2, False),
    ]
    assert [one.was_there for one in move_to_workers(source, store)] == [True, True]
    assert doctor(tmp_path / "none", store=store_url).faults == []
    with books(store_url) as (book,):
        for name, agent in agents(source):
            known, met = book.turns(name).live.agent_with(agent.tasks)
            assert len(met) == agent.num_tasks
            nodes = {task: agent.node(task) for task in agent.tasks}
            same_posteriors(known, agent.tasks, agent.belief, nodes)
    assert [(one.name, one.events) for one in move_to_folder(store, back)] == [
        (one.name, one.events) for one in moved
    ]
    assert [one.was_there for one in move_to_folder(store, back)] == [True, True]
    assert doctor(back.folder).faults == []
    for (_, one), (_, two) in zip(agents(source), agents(back), strict=True):
        nodes = {task: two.node(task) for task in one.tasks}
        same_posteriors(one, one.tasks, two.belief, nodes)
        assert {each.id for each in one.pending} == {each.id for each in two.pending}
    assert [one.name for one in back.tokens().all()] == ["ops"]


def test_a_move_that_was_cut_off_goes_on(source, store_url, tmp_path, monkeypatch):
    store, back = DataPlace(tmp_path, store_url), DataPlace(tmp_path / "back")
    for move, here, there, name in (
        (move_to_workers, source, store, "import_shared"),
        (move_to_folder, store, back, "write_shared"),
    ):
        whole, calls = getattr(shared_move, name), []

        def cut(*parts, whole=whole, calls=calls):
            calls.append(parts)
            if len(calls) == 2:
                raise KeyboardInterrupt
            whole(*parts)

        monkeypatch.setattr(shared_move, name, cut)
        with pytest.raises(KeyboardInterrupt):
            move(here, there)
        monkeypatch.setattr(shared_move, name, whole)
        assert [one.was_there for one in move(here, there)] == [True, False]
    assert sorted(path.name for path in back.folder.iterdir() if path.is_dir()) == []


def test_what_a_killed_move_has_left_is_cleared(source, store_url, tmp_path, monkeypatch):
    store, back = DataPlace(tmp_path, store_url), DataPlace(tmp_path / "back")
    move_to_workers(source, store)
    found = []

    def killed(record, links, file):
        found.append(file.name)
        raise KeyboardInterrupt

    monkeypatch.setattr(shared_move, "write_shared", killed)
    monkeypatch.setattr(shared_move._Both, "_clear", lambda both: None)  # nobody clears a kill
    with pytest.raises(KeyboardInterrupt):
        move_to_folder(store, back)
    monkeypatch.undo()
    (left,) = (path for path in back.folder.iterdir() if str(path) == found[0])
    move_to_folder(store, back)
    assert not left.exists()
    assert not [path for path in back.folder.iterdir() if path.name.startswith("tmp")]


def test_what_was_decided_or_rewarded_meanwhile_is_found(source, store_url, tmp_path):
    store, back = DataPlace(tmp_path, store_url), DataPlace(tmp_path / "back")
    move_to_workers(source, store)
    move_to_folder(store, back)
    with books(store_url) as (book,):
        live = book.turns("linear").live
        rewarded = next(one.parts["id"] for one in live.view.logged() if one.reward is not None)
        value = live.view.decision(rewarded)["reward"]
        changes = [
            lambda: live.correct(rewarded, value + 1.0),
            lambda: live.decide([DecisionRequest("t9", id="new")]),
            lambda: live.reward([("new", 1.0)]),
        ]
        for place, change in enumerate(changes):
            change()
            for move, here, there in (
                (move_to_workers, source, store),
                (move_to_folder, store, back),
            ):
                with pytest.raises(ValueError, match="has another policy 'linear'"):
                    move(here, there)
            if place == 0:
                live.correct(rewarded, value)
                assert [one.was_there for one in move_to_folder(store, back)] == [True, True]


def test_what_is_in_the_way_is_refused_and_nothing_changes(source, store_url, tmp_path):
    store = DataPlace(tmp_path, store_url)
    core = Core(source.folder / "ledger.db", replace(SETTINGS["armed"], sticky=True), name="sticky")
    with books(store_url) as (book,):
        before = rows_of(book.links)
        with pytest.raises(ValueError, match="sticky must be False"):
            move_to_workers(source, store)
        core.storage.delete_policy(core.record.id)
        core.storage.close()
        assert rows_of(book.links) == before
        book.put("stranger", SETTINGS["armed"])
        act(book.turns("stranger").live, np.random.default_rng(0), rounds=1)
        with pytest.raises(ValueError, match="has policy 'stranger'"):
            move_to_workers(source, store)
        with pytest.raises(ValueError, match="has policy 'armed'"):
            move_to_folder(store, source)
        with pytest.raises(ValueError, match=r"without ledger\.db"):
            move_to_workers(DataPlace(tmp_path / "none"), store)
        assert [one.name for one in book.records()] == ["stranger"]


def test_a_deletion_that_was_cut_off_must_be_done_first(tmp_path, store_url):
    (tmp_path / "source").mkdir()
    core = Core(tmp_path / "source" / "ledger.db", SETTINGS["armed"])
    core.decide("t")
    core.live.forget("t")
    core.store()
    core.storage.close()
    with pytest.raises(ValueError, match="one of policy 'shop' was cut off"):
        move_to_workers(DataPlace(tmp_path / "source"), DataPlace(tmp_path, store_url))
