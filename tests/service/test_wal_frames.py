"""Damage in a write-ahead log that a crash does not explain is seen."""

import shutil
import struct

import numpy as np
import pytest

from hierbandits.service.sqlite_storage import SqliteStorage
from hierbandits.service.storage import Batch, StorageDamaged, StorageFailed
from hierbandits.service.wal_frames import lost_frames


@pytest.fixture
def crashed(tmp_path):
    """What a process leaves that is killed after twelve commits, and what each event was."""
    storage = SqliteStorage(tmp_path / "ledger.db")
    policy = storage.create_policy("a", b"{}", 0.0).id
    for number in range(1, 13):
        storage.commit(Batch(events=[(policy, number, b"event %d" % number * 20)]))
    (tmp_path / "crashed").mkdir()
    for name in ("ledger.db", "ledger.db-wal"):
        shutil.copy(tmp_path / name, tmp_path / "crashed" / name)
    whole = list(storage.events(policy))
    storage.close()
    return tmp_path / "crashed", policy, whole


def events(folder, policy):
    storage = SqliteStorage(folder / "ledger.db")
    try:
        return list(storage.events(policy))
    finally:
        storage.close()


def test_a_log_that_a_crash_left_is_whole(crashed):
    folder, policy, whole = crashed
    assert lost_frames(folder / "ledger.db-wal") is None
    assert lost_frames(folder / "nothing") is None
    assert events(folder, policy) == whole


def test_a_log_cut_anywhere_is_what_a_crash_leaves(crashed):
    folder, _, _ = crashed
    wal = (folder / "ledger.db-wal").read_bytes()
    for size in np.random.default_rng(1).integers(0, len(wal), 40):
        (folder / "cut-wal").write_bytes(wal[:size])
        assert lost_frames(folder / "cut-wal") is None


def test_a_flipped_bit_before_the_last_transaction_is_seen_and_no_event_is_lost(crashed, tmp_path):
    folder, policy, whole = crashed
    wal, ledger = (folder / "ledger.db-wal").read_bytes(), (folder / "ledger.db").read_bytes()
    rng, seen = np.random.default_rng(2), 0
    page = struct.unpack(">I", wal[8:12])[0] + 24
    commits = [
        place for place in range(32, len(wal), page) if wal[place + 4 : place + 8] != bytes(4)
    ]
    last = commits[-2] + page  # where the last transaction begins
    for _ in range(60):
        place = int(rng.integers(last))
        bad = tmp_path / f"bad{place}"
        shutil.rmtree(bad, ignore_errors=True)
        bad.mkdir()
        changed = bytearray(wal)
        changed[place] ^= 1 << rng.integers(8)
        (bad / "ledger.db").write_bytes(ledger)
        (bad / "ledger.db-wal").write_bytes(changed)
        try:
            assert events(bad, policy) == whole
        except (StorageDamaged, StorageFailed, ValueError):
            seen += 1
    assert seen > 50


def test_any_flipped_bit_of_the_header_is_seen_and_the_file_stays(crashed):
    folder, policy, _ = crashed
    path = folder / "ledger.db-wal"
    wal = path.read_bytes()
    for bit in range(32 * 8):
        changed = bytearray(wal)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        assert lost_frames(path) is not None
    with pytest.raises(StorageDamaged, match=r"the write-ahead log .* is damaged at frame 0"):
        events(folder, policy)
    assert path.read_bytes() == changed
