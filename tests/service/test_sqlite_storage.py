"""The ledger in a file: what is left of it on the disk, copies, older files."""

import shutil

import pytest
from support.stores import Change, put

from hierbandits.service.ledger_head import LedgerHead
from hierbandits.service.sqlite_storage import SqliteStorage
from hierbandits.service.storage import StorageDamaged


@pytest.fixture
def storage(tmp_path):
    own = SqliteStorage(tmp_path / "ledger.db")
    yield own
    own.close()


def alter(storage, sql, *values):
    """Change the tables behind the back of the checksums of events."""
    with storage._file.writing() as db:
        db.execute(sql, values)


def test_what_is_deleted_or_rewritten_is_nowhere_on_the_disk(storage, tmp_path):
    gone, kept = (storage.create_policy(name, b"{}", 0.0).id for name in "ab")
    put(storage, gone, b"a secret", ids=[(gone, "secret id", 1, 0)])
    put(storage, kept, b"secret 1", b"two", ids=[(kept, "secret", 1, 0)])
    storage.delete_policy(gone)
    change = Change(lambda data: data.replace(b"secret", b"gone"), ["secret"])
    assert storage.rewrite(kept, change) == 1
    assert all(b"secret" not in path.read_bytes() for path in tmp_path.iterdir())


def test_nobody_sees_an_event_that_is_not_on_the_disk(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"x")
    seen = []

    def fail():
        with storage._writing() as db:
            storage._put_head(db, policy, LedgerHead(9, 9))
            seen.append(storage.last(policy))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert seen == [1]
    assert storage.last(policy) == 1
    put(storage, policy, b"y")
    storage.check()


def test_a_copy_made_while_others_write_is_whole_and_checked(storage, tmp_path):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, *(b"event %d" % n for n in range(2000)))
    storage.backup(str(tmp_path / "copy.db"))
    put(storage, policy, b"later")
    shutil.copy(tmp_path / "copy.db", tmp_path / "bad.db")
    copy = SqliteStorage(tmp_path / "copy.db")
    copy.check()
    assert copy.last(policy) == 2000
    copy.close()
    data = bytearray((tmp_path / "bad.db").read_bytes())
    data[data.index(b"event 1234")] ^= 1
    (tmp_path / "bad.db").write_bytes(data)
    bad = SqliteStorage(tmp_path / "bad.db")
    with pytest.raises(StorageDamaged):
        bad.check()
    bad.close()


def test_a_copy_does_not_replace_a_file(storage, tmp_path):
    (tmp_path / "copy.db").write_bytes(b"mine")
    with pytest.raises(Exception, match=r"exist|already|not a database|damaged"):
        storage.backup(str(tmp_path / "copy.db"))
    assert (tmp_path / "copy.db").read_bytes() == b"mine"


def test_a_folder_from_before_metrics_is_opened(tmp_path, storage):
    policy = storage.create_policy("p", b"{}", 1.0).id
    put(storage, policy, b"1")
    alter(storage, "DROP TABLE measured")
    alter(storage, "PRAGMA user_version = 1")
    storage.close()
    old = SqliteStorage(tmp_path / "ledger.db", read_only=True)
    old.check()
    old.close()
    again = SqliteStorage(tmp_path / "ledger.db")
    put(again, policy, b"2", measures=[(policy, 1, 0, "errors", 2)])
    again.check()
    assert again.measured_by(policy, [((1, 0), "errors")]) == {((1, 0), "errors"): 2}
    again.close()
