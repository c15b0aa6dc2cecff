"""The ledger in a file: order, checksums, rewriting."""

import shutil

import pytest

from hierbandits.service.sqlite_storage import SqliteStorage
from hierbandits.service.storage import Batch, StorageDamaged, StorageFailed, VersionRecord


@pytest.fixture
def storage(tmp_path):
    own = SqliteStorage(tmp_path / "ledger.db")
    yield own
    own.close()


def put(storage, policy, *events, **parts):
    first = storage.last(policy) + 1
    rows = [(policy, first + i, data) for i, data in enumerate(events)]
    storage.commit(Batch(events=rows, **parts))


def alter(storage, sql, *values):
    """Change the tables behind the back of the checksums of events."""
    with storage._file.writing() as db:
        db.execute(sql, values)


def test_policies_have_names_secrets_and_versions(storage):
    one = storage.create_policy("b", b"{}", 5.0)
    two = storage.create_policy("a", b"{}", 6.0)
    assert storage.policies() == [two, one]
    assert one.salt != two.salt
    assert len(one.salt) == 16
    made = VersionRecord(2, b'{"x":1}', 7, 8.0)
    storage.commit(Batch(versions=[(one.id, made)]))
    assert storage.versions(one.id) == [VersionRecord(1, b"{}", 0, 5.0), made]
    assert len(storage.versions(two.id)) == 1


def test_events_come_back_in_order_across_pages_of_rows(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, *(b"%d" % n for n in range(1, 1202)))
    assert [number for number, _ in storage.events(policy)] == list(range(1, 1202))
    assert list(storage.events(policy, 1199)) == [(1200, b"1200"), (1201, b"1201")]
    assert storage.event(policy, 700) == b"700"
    assert storage.event(policy, 1202) is None
    assert storage.last(policy) == 1201


def test_events_of_two_policies_in_one_batch(storage):
    one, two = (storage.create_policy(name, b"{}", 0.0).id for name in "ab")
    storage.commit(Batch(events=[(two, 1, b"x"), (one, 1, b"y"), (two, 2, b"z")]))
    assert list(storage.events(one)) == [(1, b"y")]
    assert list(storage.events(two)) == [(1, b"x"), (2, b"z")]
    storage.check()


def test_a_batch_that_does_not_follow_is_refused_whole(storage):
    one, two = (storage.create_policy(name, b"{}", 0.0).id for name in "ab")
    for number in (2, 0):
        with pytest.raises(StorageFailed, match="must come after event 0"):
            storage.commit(Batch(events=[(one, 1, b"x"), (two, number, b"y")]))
    assert storage.last(one) == storage.last(two) == 0
    put(storage, one, b"x")
    storage.check()


def test_nobody_sees_an_event_that_is_not_on_the_disk(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"x")
    seen = []

    def fail():
        with storage._writing() as db:
            storage._put_head(db, policy, 9, 9)
            seen.append(storage.last(policy))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert seen == [1]
    assert storage.last(policy) == 1
    put(storage, policy, b"y")
    storage.check()


def test_a_deleted_policy_takes_no_events_and_leaves_nothing(storage, tmp_path):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"a secret", ids=[(policy, "secret id", 1, 0)])
    storage.delete_policy(policy)
    with pytest.raises(StorageFailed, match="deleted"):
        put(storage, policy, b"x")
    assert storage.policies() == []
    assert all(b"secret" not in path.read_bytes() for path in tmp_path.iterdir())
    storage.check()


def test_ids_beyond_ascii_find_their_decisions(storage):
    one, two = (storage.create_policy(name, b"{}", 0.0).id for name in "ab")
    ids = ["x", "Köln", "☕", "𝄞 '\"\\", "%s", "10", "é", "e\u0301"]
    rows = [(one, id, 1, place) for place, id in enumerate(ids)]
    put(storage, one, b"x", ids=rows)
    assert storage.find_ids(one, [*ids, "unknown", "X"]) == {
        id: (1, place) for place, id in enumerate(ids)
    }
    assert storage.find_ids(two, ids) == {}


def test_an_id_is_used_once_in_a_policy(storage):
    one, two = (storage.create_policy(name, b"{}", 0.0).id for name in "ab")
    put(storage, one, b"x", ids=[(one, "id", 1, 0)])
    put(storage, two, b"x", ids=[(two, "id", 1, 0)])
    with pytest.raises(Exception, match="UNIQUE"):
        put(storage, one, b"y", ids=[(one, "id", 2, 0)])
    assert storage.last(one) == 1


def test_the_last_reward_and_the_kept_arm_count(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"x", rewards=[(policy, 1, 0, 1)], assigned=[(policy, '"t"', '"a"')])
    put(storage, policy, b"y", rewards=[(policy, 1, 0, 2)], assigned=[(policy, "1", "2")])
    assert storage.rewarded_by(policy, [(1, 0), (1, 1)]) == {(1, 0): 2}
    assert storage.assigned(policy, ['"t"', "1", '"1"']) == {'"t"': '"a"', "1": "2"}


def test_a_new_process_finds_all(storage, tmp_path):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"x", b"y")
    other = SqliteStorage(tmp_path / "ledger.db", read_only=True)
    assert list(other.events(policy)) == [(1, b"x"), (2, b"y")]
    other.check()
    other.close()


class Change:
    def __init__(self, change, ids=(), places=(), task='"t"'):
        self._change, self.ids, self.places, self.task = change, list(ids), list(places), task

    def __call__(self, data):
        return self._change(data)


def test_rewriting_changes_events_their_checksums_and_what_finds_them(storage, tmp_path):
    policy = storage.create_policy("a", b"{}", 0.0).id
    rows = {
        "ids": [(policy, "mine", 1, 0), (policy, "other", 2, 0)],
        "rewards": [(policy, 1, 0, 3), (policy, 2, 0, 3)],
        "assigned": [(policy, '"t"', '"a"'), (policy, '"u"', '"a"')],
    }
    put(storage, policy, b"secret 1", b"two", b"secret 3", **rows)
    change = Change(lambda data: data.replace(b"secret", b"gone"), ["mine"], [(1, 0)])
    assert storage.rewrite(policy, change) == 2
    assert [data for _, data in storage.events(policy)] == [b"gone 1", b"two", b"gone 3"]
    assert storage.find_ids(policy, ["mine", "other"]) == {"other": (2, 0)}
    assert storage.rewarded_by(policy, [(1, 0), (2, 0)]) == {(2, 0): 3}
    assert storage.assigned(policy, ['"t"', '"u"']) == {'"u"': '"a"'}
    storage.check()
    put(storage, policy, b"four")
    storage.check()
    assert all(b"secret" not in path.read_bytes() for path in tmp_path.iterdir())


def test_rewriting_that_fails_changes_nothing(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"x", b"y")

    def change(data):
        if data == b"y":
            raise RuntimeError
        return b"z"

    with pytest.raises(RuntimeError):
        storage.rewrite(policy, Change(change))
    assert [data for _, data in storage.events(policy)] == [b"x", b"y"]
    storage.check()
    storage.delete_policy(policy)
    with pytest.raises(StorageFailed, match="deleted"):
        storage.rewrite(policy, Change(change))


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE events SET data = x'7a' WHERE number = 2", "event 2 of policy"),
        ("UPDATE events SET checksum = x'00' WHERE number = 1", "event 1 of policy"),
        ("DELETE FROM events WHERE number = 2", "event 2 of policy"),
        ("DELETE FROM events WHERE number = 3", "events of policy 'a' are missing"),
        ("UPDATE events SET number = 9 WHERE number = 3", "event 3 of policy"),
        ("UPDATE heads SET last = 2", "events of policy 'a' are missing"),
        ("UPDATE heads SET total = x'0000000000000000'", "events of policy 'a' are missing"),
        ("UPDATE versions SET settings = x'7b'", "version 1 of policy"),
        ("UPDATE versions SET after = 1", "version 1 of policy"),
        ("UPDATE versions SET number = 2", "version 2 of policy"),
    ],
)
def test_rows_that_somebody_changed_are_named(storage, tmp_path, sql, words):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"x", b"y", b"z")
    storage.check()
    alter(storage, sql)
    with pytest.raises(StorageDamaged, match=words):
        storage.check()
    again = SqliteStorage(tmp_path / "ledger.db", read_only=True)
    with pytest.raises(StorageDamaged, match=words):
        again.check()
    again.close()


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


def test_metrics_of_decisions_are_found_once_and_deleted_with_their_task(storage):
    policy = storage.create_policy("p", b"{}", 1.0).id
    put(storage, policy, b"1", b"2", measures=[(policy, 1, 0, "errors", 2)])
    wanted = [((1, 0), "errors"), ((1, 0), "other"), ((1, 1), "errors")]
    assert storage.measured_by(policy, wanted) == {((1, 0), "errors"): 2}
    with pytest.raises(Exception, match="UNIQUE"):
        put(storage, policy, b"3", measures=[(policy, 1, 0, "errors", 3)])
    assert storage.last(policy) == 2

    class Change:
        ids, places, task = (), [(1, 0)], '"t"'

        def __call__(self, data):
            return data

    storage.rewrite(policy, Change())
    assert storage.measured_by(policy, wanted) == {}


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
