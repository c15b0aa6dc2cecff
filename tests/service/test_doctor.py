"""A data folder is looked at: what is wrong is named, and nothing is changed."""

import json
import shutil

import numpy as np
import pytest
from support.byte_flips import flips
from support.service_lives import KINDS, Core, live_on, task_of

from hierbandits import Agent
from hierbandits.service.doctor import doctor
from hierbandits.service.guardrail import Guardrail
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.snapshots import Snapshots
from hierbandits.service.task_erasure import TaskErasure


def fill(folder, kind="armed", *, forgets=False):
    """A folder of one policy with a snapshot from the middle of its life, still open."""
    core = Core(folder / "ledger.db", KINDS[kind])
    live_on(core, np.random.default_rng(4), steps=30)
    if forgets:
        task = task_of(core.live.settings, 0)
        until = core.live.forget(tuple(task) if isinstance(task, list) else task)
        core.store()
        core.storage.rewrite(core.record.id, TaskErasure(task, until))
    Snapshots(folder / "snapshots").save(core.record, core.live.number, {1: core.live.agent})
    live_on(core, np.random.default_rng(5), steps=10)
    return core


def contents(folder):
    return {
        path: path.read_bytes() for path in folder.rglob("*") if path.suffix in (".agent", ".db")
    }


@pytest.mark.parametrize("forgets", [False, True])
@pytest.mark.parametrize("kind", ["armed", "linear", "deep", "bernoulli", "unknown"])
def test_a_sound_folder_is_sound_while_it_is_served(tmp_path, kind, forgets):
    core = fill(tmp_path, kind, forgets=forgets)
    before, said = contents(tmp_path), []
    report = doctor(tmp_path, said.append)
    assert report.faults == []
    assert report.is_sound
    (health,) = report.policies
    assert (health.name, health.events, health.snapshots) == ("shop", core.live.number, 1)
    assert health.decisions > 10
    assert health.rewards > 5
    assert health.difference <= 1e-9
    assert said == ["checksums of the ledger", "policy shop"]
    assert contents(tmp_path) == before
    assert json.loads(json.dumps(report.to_dict()))["is_sound"] is True
    core.storage.close()


def test_a_snapshot_that_is_of_another_agent_is_named(tmp_path):
    core = fill(tmp_path)
    (path,) = (tmp_path / "snapshots").iterdir()
    taught = Agent.load(path, journal=lambda event: None)
    number = taught.position[1]
    taught.learn(["user 1"], ["a"], [1e6])
    taught._state.num_events = number  # so that it claims to have seen no more
    taught.save(path, overwrite=True)
    report = doctor(tmp_path)
    assert len(report.faults) == 1
    assert report.faults[0].startswith(f"policy 'shop': {path.name} ")
    core.storage.close()


def test_a_damaged_snapshot_is_named_and_stays(tmp_path):
    core = fill(tmp_path)
    (path,) = (tmp_path / "snapshots").iterdir()
    path.write_bytes(path.read_bytes()[:-40])
    (fault,) = doctor(tmp_path).faults
    assert f"{path.name} is damaged" in fault
    assert path.exists()
    core.storage.close()


def test_a_snapshot_beyond_the_ledger_is_named(tmp_path):
    core = fill(tmp_path)
    core.decide("u")  # never stored
    Snapshots(tmp_path / "snapshots").save(core.record, core.live.number, {1: core.live.agent})
    (fault,) = doctor(tmp_path).faults
    assert f"has seen event {core.live.number}, which the ledger does not have" in fault
    core.storage.close()


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE events SET data = x'7b7d' WHERE number = 3", "ledger.db: event 3 of policy"),
        ("DELETE FROM events WHERE number > 3", "ledger.db: events of policy 'shop' are missing"),
        ("UPDATE ids SET place = 7", "policy 'shop': decision 'own "),
        ("DELETE FROM rewards", "policy 'shop': the reward of decision "),
    ],
)
def test_what_is_wrong_with_the_ledger_is_named(tmp_path, sql, words):
    core = fill(tmp_path)
    with core.storage._file.writing() as db:
        db.execute(sql)
    core.storage.close()
    report = doctor(tmp_path)
    assert words in report.faults[0]
    assert not report.is_sound


def test_events_that_do_not_fit_the_settings_are_named(tmp_path):
    core = fill(tmp_path)
    batch = core.live.take_batch()
    event = b'{"kind":"reward","time":1.0,"ids":["nobody"],"values":[1.0]}'
    batch.events.append((core.record.id, core.live.number + 1, event))
    core.storage.commit(batch)
    core.storage.close()
    (fault,) = doctor(tmp_path).faults
    assert "does not fit this agent" in fault
    assert "nobody" in fault


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"folder must be a data folder"):
        doctor(tmp_path)
    (tmp_path / "ledger.db").write_bytes(b"nothing of the kind" * 500)
    (fault,) = doctor(tmp_path).faults
    assert fault.startswith("ledger.db: the database is damaged")


def test_a_damaged_log_that_a_crash_left_is_named(tmp_path):
    core = fill(tmp_path)
    (tmp_path / "crashed").mkdir()
    for name in ("ledger.db", "ledger.db-wal"):
        shutil.copy(tmp_path / name, tmp_path / "crashed" / name)
    core.storage.close()
    assert doctor(tmp_path / "crashed").is_sound
    for path in (tmp_path / "crashed").glob("ledger.db-shm"):
        path.unlink()
    path = tmp_path / "crashed" / "ledger.db-wal"
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    (fault,) = doctor(tmp_path / "crashed").faults
    assert fault.startswith("ledger.db-wal is damaged at frame ")


def test_a_flipped_bit_is_seen_or_harmless(tmp_path):
    counts = flips(tmp_path, 60, seed=1)
    assert sum(counts.values()) == 120
    assert counts["bits flipped in a ledger, seen when read"] > 20
    assert counts["bits flipped in a snapshot, seen when read"] > 40


def test_metrics_and_rollouts_are_computed_again(tmp_path):
    settings = PolicySettings(
        arms=["a", "b"], draws=5, control_arm="a", ratio_check="rewards",
        guardrails=[Guardrail(name="errors", at_most=0.5)],
    )  # fmt: skip
    core = Core(tmp_path / "ledger.db", settings)
    core.live.rollout.settle(None, 1, "ana")
    ids = [core.decide(f"task {n}").id for n in range(5)]
    core.live.reward([(id, 1.0) for id in ids])
    core.live.rollout.measure([(id, {"errors": 0.2}) for id in ids[:3]])
    core.store()
    snapshots = Snapshots(tmp_path / "snapshots")
    snapshots.save_rollout(core.record, core.live.number, core.live.rollout.state)
    core.live.rollout.measure([(ids[3], {"errors": 0.2})])
    core.store()
    assert doctor(tmp_path).faults == []
    with core.storage._file.writing() as db:
        db.execute("DELETE FROM measured WHERE number = 3")
    (fault,) = doctor(tmp_path).faults
    assert "'errors' of decision 0 of event 3 is not found" in fault
    (path,) = (tmp_path / "snapshots").glob("*.rollout")
    path.write_bytes(path.read_bytes().replace(b'"by":"ana"', b'"by":"eve"'))
    faults = doctor(tmp_path).faults
    assert any("the rollout's audit is kept in another state" in one for one in faults)
    core.storage.close()
