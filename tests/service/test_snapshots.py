"""Snapshots are only copies: any of them may be missing, old or damaged."""

import numpy as np
import pytest
from support.service_lives import KINDS, Core, known, live_on

from hierbandits.beliefs import adaptive_belief
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.snapshots import Snapshots, from_ledger
from hierbandits.service.storage import StorageDamaged

UNKNOWN = PolicySettings(arms=["a", "b", "c"], draws=0)
"""A policy that learns the widths."""


@pytest.fixture
def core(tmp_path):
    own = Core(tmp_path / "a.db", KINDS["armed"])
    yield own
    own.storage.close()


@pytest.fixture
def snapshots(tmp_path):
    return Snapshots(tmp_path / "snapshots")


def load(core, snapshots, version=1):
    last = core.storage.last(core.record.id)
    return snapshots.load(
        core.record, version, core.live.settings, core.storage, lambda event: None, until=last
    )


def save(core, snapshots, version=1):
    snapshots.save(core.record, core.live.number, {version: core.live.agent})


def test_a_snapshot_and_the_tail_are_the_live_agent(core, snapshots):
    live_on(core, np.random.default_rng(1), steps=15)
    save(core, snapshots)
    assert snapshots.newest(core.record.id, 1) == core.live.number
    live_on(core, np.random.default_rng(2), steps=15)
    assert known(load(core, snapshots)) == known(core.live.agent)


def test_a_policy_that_looks_at_widths_goes_on_from_its_snapshots_as_if_there_were_none(
    tmp_path, snapshots, monkeypatch
):
    monkeypatch.setattr(adaptive_belief, "WORK", 1e4)  # so that looks take many calls
    core, rng, kept, left = Core(tmp_path / "b.db", UNKNOWN), np.random.default_rng(3), 0, 0
    for n in range(200):
        core.reward(core.decide(f"user {n % 7}").id, float(rng.normal()))
        core.store()
        is_looking = core.live.agent.is_looking
        save(core, snapshots)
        assert core.live.agent.is_looking == is_looking
        assert (snapshots.newest(core.record.id, 1) < core.live.number) == is_looking
        if n % 20 == 0:
            assert load(core, snapshots).is_looking == is_looking
        kept, left = kept + (not is_looking), left + is_looking
    assert min(kept, left) > 20
    assert known(load(core, snapshots)) == known(core.live.agent)
    core.storage.close()


def test_only_the_newest_two_of_the_newest_version_are_kept(core, snapshots, tmp_path):
    for _ in range(4):
        core.decide("u")
        core.store()
        save(core, snapshots)
    names = [path.name for path in (tmp_path / "snapshots").iterdir()]
    assert sorted(names) == [f"{core.record.id}-1-{n}.agent" for n in (3, 4)]
    save(core, snapshots, version=2)
    names = [path.name for path in (tmp_path / "snapshots").iterdir()]
    assert names == [f"{core.record.id}-2-4.agent"]
    assert snapshots.newest(core.record.id, 1) == 0


def test_a_snapshot_of_another_version_is_not_used(core, snapshots, monkeypatch):
    core.decide("u")
    core.store()
    save(core, snapshots, version=1)
    calls = []
    monkeypatch.setattr(
        "hierbandits.service.snapshots.from_ledger", lambda *a, **k: calls.append(1)
    )
    load(core, snapshots, version=2)
    assert calls == [1]


@pytest.mark.parametrize("fault", ["flip", "cut", "empty", "renamed"])
def test_a_damaged_snapshot_is_thrown_away_and_the_ledger_counts(core, snapshots, tmp_path, fault):
    live_on(core, np.random.default_rng(1), steps=15)
    save(core, snapshots)
    (path,) = (tmp_path / "snapshots").iterdir()
    data = bytearray(path.read_bytes())
    if fault == "flip":
        data[len(data) // 2] ^= 16
    elif fault == "cut":
        data = data[: len(data) // 2]
    elif fault == "empty":
        data = b""
    path.write_bytes(data)
    if fault == "renamed":
        path.rename(path.with_name(f"{core.record.id}-1-{core.live.number - 1}.agent"))
    assert known(load(core, snapshots)) == known(core.live.agent)
    assert list((tmp_path / "snapshots").iterdir()) == []


def test_a_snapshot_beyond_the_ledger_is_not_used(core, snapshots):
    core.decide("u")
    core.store()
    core.decide("u")  # never stored
    save(core, snapshots)
    agent = load(core, snapshots)
    assert agent.position[1] == 1


def test_an_agent_that_misses_events_is_not_given(core, snapshots):
    core.decide("u")
    core.store()
    with pytest.raises(StorageDamaged, match="event 2 of policy 'shop' is missing, of 3"):
        from_ledger(core.record, core.live.settings, core.storage, lambda event: None, until=3)


def test_snapshots_of_one_policy_are_deleted_alone(core, snapshots, tmp_path):
    core.decide("u")
    core.store()
    save(core, snapshots)
    other = tmp_path / "snapshots" / f"{core.record.id}1-1-1.agent"
    other.write_bytes(b"another policy's")
    snapshots.delete(core.record.id)
    assert list((tmp_path / "snapshots").iterdir()) == [other]


def rollout(core, snapshots):
    last = core.storage.last(core.record.id)
    return snapshots.load_rollout(core.record, core.storage, until=last).to_dict()


def test_what_is_kept_of_a_rollout_and_the_tail_are_the_live_one(core, snapshots):
    core.live.rollout.settle(None, 1, "ana")
    core.store()
    snapshots.save_rollout(core.record, core.live.number, core.live.rollout.state)
    core.live.rollout.change("hold", "bob")
    core.store()
    assert rollout(core, snapshots) == core.live.rollout.state.to_dict()
    for _ in range(3):
        core.live.rollout.change("resume", "bob")
        core.store()
        snapshots.save_rollout(core.record, core.live.number, core.live.rollout.state)
    folder = snapshots._folder
    assert len(list(folder.glob("*.rollout"))) == 2
    for path in folder.glob("*.rollout"):
        path.write_bytes(path.read_bytes()[:-5])
    (folder / f"{core.record.id}-nonsense.rollout").write_text("{}")
    (folder / f"{core.record.id}-99.rollout").write_text("{}")
    assert rollout(core, snapshots) == core.live.rollout.state.to_dict()
    snapshots.delete(core.record.id)
    assert [path.stem.rsplit("-")[-1] for path in folder.iterdir()] == ["nonsense"]
