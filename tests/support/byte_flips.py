"""Single bits that change in a data folder: each is seen, or changes nothing."""

import shutil
from collections import Counter
from pathlib import Path

import numpy as np

from hierbandits import Agent
from hierbandits.service.snapshots import Snapshots
from hierbandits.service.sqlite_storage import SqliteStorage
from hierbandits.service.storage import StorageDamaged, StorageFailed
from support.service_lives import KINDS, Core, known, live_on

SEEN = (StorageDamaged, StorageFailed, ValueError)


def make_folder(folder, seed=0, steps=150):
    """A data folder of a sticky policy with clients' ids, which holds a snapshot."""
    folder.mkdir()
    settings = KINDS["armed"]
    core = Core(folder / "ledger.db", settings)
    live_on(core, np.random.default_rng(seed), steps=steps)
    batch = core.live.take_batch()
    batch.assigned += [(core.record.id, f'"task {i}"', '"a"') for i in range(50)]
    batch.events.append((core.record.id, core.live.number + 1, b'{"kind":"erased","time":1.0}'))
    core.storage.commit(batch)
    Snapshots(folder / "snapshots").save(core.record, core.live.number, {1: core.live.agent})
    core.storage.close()


def everything(storage):
    """All that a storage says."""
    found = []
    for record in storage.policies():
        events = list(storage.events(record.id))
        places = [(number, place) for number, _ in events for place in range(4)]
        ids = [f"own {number} {i} é" for number in range(200) for i in range(4)]
        tasks = [f'"task {i}"' for i in range(50)]
        found.append(
            (
                record,
                storage.versions(record.id),
                storage.last(record.id),
                events,
                dict(storage.find_ids(record.id, ids)),
                dict(storage.rewarded_by(record.id, places)),
                dict(storage.assigned(record.id, tasks)),
            )
        )
    return found


def flips(folder: Path, count: int, seed: int) -> Counter[str]:
    """Flip one bit at a time in the ledger, and in the snapshot; anything unseen is an error."""
    rng, counts = np.random.default_rng(seed), Counter[str]()
    make_folder(folder / "good", seed)
    ledger = (folder / "good" / "ledger.db").read_bytes()
    (path,) = (folder / "good" / "snapshots").iterdir()
    snapshot, truth = path.read_bytes(), known(Agent.load(path))
    storage = SqliteStorage(folder / "good" / "ledger.db")
    whole = everything(storage)
    storage.close()
    for _ in range(count):
        place, bit = int(rng.integers(len(ledger))), int(rng.integers(8))
        counts[f"bits flipped in a ledger, {_ledger_flip(folder, ledger, place, bit, whole)}"] += 1
        place = int(rng.integers(len(snapshot)))
        counts[
            f"bits flipped in a snapshot, {_snapshot_flip(path, snapshot, place, bit, truth)}"
        ] += 1
    return counts


def _flipped(data, place, bit):
    changed = bytearray(data)
    changed[place] ^= 1 << bit
    return bytes(changed)


def _ledger_flip(folder, data, place, bit, whole):
    """What becomes of one flip: "seen" or "harmless"."""
    bad = folder / "bad"
    shutil.rmtree(bad, ignore_errors=True)
    bad.mkdir()
    (bad / "ledger.db").write_bytes(_flipped(data, place, bit))
    storage = None
    try:
        storage = SqliteStorage(bad / "ledger.db")
        found = everything(storage)
    except SEEN:
        return "seen when read"
    finally:
        if storage is not None:
            storage.close()
    if found != whole:
        raise AssertionError(f"bit {bit} of byte {place} of the ledger changed what is read")
    storage = SqliteStorage(bad / "ledger.db")
    try:
        storage.check()
    except SEEN:
        return "seen by the check"
    finally:
        storage.close()
    return "harmless"


def _snapshot_flip(path, data, place, bit, truth):
    path.write_bytes(_flipped(data, place, bit))
    try:
        agent = Agent.load(path)
    except (ValueError, OSError):
        return "seen when read"
    if known(agent) != truth:
        raise AssertionError(f"bit {bit} of byte {place} of a snapshot changed an agent")
    return "harmless"
