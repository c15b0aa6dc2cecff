"""What every storage does: order, checksums, rewriting.  Two are held to it, on real databases."""

import pytest
from support.stores import KINDS, Change, PostgresStore, SqliteStore, put

from hierbandits.service.storage import Batch, StorageDamaged, StorageFailed, VersionRecord


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    if request.param == "sqlite":
        own = SqliteStore(tmp_path)
    else:
        own = PostgresStore(request.getfixturevalue("store_url"))
    yield own
    own.close()


@pytest.fixture
def storage(store):
    return store.open()


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


def test_a_deleted_policy_takes_no_events(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"a secret", ids=[(policy, "secret id", 1, 0)])
    storage.delete_policy(policy)
    with pytest.raises(StorageFailed, match="deleted"):
        put(storage, policy, b"x")
    assert storage.policies() == []
    storage.check()


def test_ids_beyond_ascii_find_their_decisions(storage):
    one, two = (storage.create_policy(name, b"{}", 0.0).id for name in "ab")
    ids = ["x" * 200, "\U0001d11e" * 200, "x", "Köln", "☕", "𝄞 '\"\\", "%s", "10", "é", "e\u0301"]
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
    with pytest.raises(Exception, match=r"(?i)unique"):
        put(storage, one, b"y", ids=[(one, "id", 2, 0)])
    assert storage.last(one) == 1


def test_the_last_reward_and_the_kept_arm_count(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"x", rewards=[(policy, 1, 0, 1)], assigned=[(policy, '"t"', '"a"')])
    put(storage, policy, b"y", rewards=[(policy, 1, 0, 2)], assigned=[(policy, "1", "2")])
    assert storage.rewarded_by(policy, [(1, 0), (1, 1)]) == {(1, 0): 2}
    assert storage.assigned(policy, ['"t"', "1", '"1"']) == {'"t"': '"a"', "1": "2"}
    assert sorted(storage.assignments(policy)) == [('"t"', '"a"'), ("1", "2")]


def test_a_batch_that_rewards_and_assigns_twice_keeps_the_last(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    rewards, arms = [(policy, 1, 0, 1), (policy, 1, 0, 2)], [(policy, "1", "2"), (policy, "1", "3")]
    put(storage, policy, b"x", b"y", rewards=rewards, assigned=arms)
    assert storage.rewarded_by(policy, [(1, 0)]) == {(1, 0): 2}
    assert storage.assigned(policy, ["1"]) == {"1": "3"}


def test_names_of_tasks_may_be_long_and_odd(storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    tasks = ['"' + "ü" * 100_000 + '"', '"\\u0000"', '"%s"', '"\U0001d11e"']
    put(storage, policy, b"x", assigned=[(policy, task, f'"{i}"') for i, task in enumerate(tasks)])
    assert storage.assigned(policy, tasks) == {task: f'"{i}"' for i, task in enumerate(tasks)}


def test_a_policy_comes_with_all_its_content_or_not_at_all(storage):
    def content(record):
        yield Batch(events=[(record.id, 1, b"x")], ids=[(record.id, "id", 1, 0)])
        yield Batch(events=[(record.id, 2, b"y")], versions=[(record.id, second)])

    def torn(record):
        yield Batch(events=[(record.id, 1, b"x")])
        raise RuntimeError

    second = VersionRecord(2, b"{}", 1, 3.0)
    record = storage.create_policy("a", b"{}", 0.0, salt=b"s" * 16, content=content)
    assert (record.salt, storage.last(record.id)) == (b"s" * 16, 2)
    assert storage.versions(record.id)[1:] == [second]
    with pytest.raises(RuntimeError):
        storage.create_policy("b", b"{}", 0.0, content=torn)
    with pytest.raises(Exception, match=r"(?i)unique"):
        storage.create_policy("a", b"{}", 0.0)
    assert storage.policies() == [record]
    storage.try_writing()
    storage.check()


def test_another_that_reads_finds_all(store, storage):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"x", b"y")
    other = store.open(read_only=True)
    assert list(other.events(policy)) == [(1, b"x"), (2, b"y")]
    other.check()
    with pytest.raises(StorageFailed, match="reading only"):
        put(other, policy, b"z")


def test_rewriting_changes_events_their_checksums_and_what_finds_them(storage):
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
    ("sql", "values", "words"),
    [
        ("UPDATE events SET data = ? WHERE number = 2", [b"7"], "event 2 of policy"),
        ("UPDATE events SET checksum = ? WHERE number = 1", [b"0"], "event 1 of policy"),
        ("DELETE FROM events WHERE number = 2", [], "event 2 of policy"),
        ("DELETE FROM events WHERE number = 3", [], "events of policy 'a' are missing"),
        ("UPDATE events SET number = 9 WHERE number = 3", [], "event 3 of policy"),
        ("UPDATE heads SET last = 2", [], "events of policy 'a' are missing"),
        ("UPDATE heads SET total = ?", [bytes(8)], "events of policy 'a' are missing"),
        ("UPDATE versions SET settings = ?", [b"{"], "version 1 of policy"),
        ("UPDATE versions SET after = 1", [], "version 1 of policy"),
        ("UPDATE versions SET number = 2", [], "version 2 of policy"),
    ],
)
def test_rows_that_somebody_changed_are_named(store, storage, sql, values, words):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"x", b"y", b"z")
    storage.check()
    store.alter(sql, *values)
    with pytest.raises(StorageDamaged, match=words):
        storage.check()
    again = store.open(read_only=True)
    with pytest.raises(StorageDamaged, match=words):
        again.check()


def test_metrics_of_decisions_are_found_once_and_deleted_with_their_task(storage):
    policy = storage.create_policy("p", b"{}", 1.0).id
    put(storage, policy, b"1", b"2", measures=[(policy, 1, 0, "errors", 2)])
    wanted = [((1, 0), "errors"), ((1, 0), "other"), ((1, 1), "errors")]
    assert storage.measured_by(policy, wanted) == {((1, 0), "errors"): 2}
    with pytest.raises(Exception, match=r"(?i)unique"):
        put(storage, policy, b"3", measures=[(policy, 1, 0, "errors", 3)])
    assert storage.last(policy) == 2
    storage.rewrite(policy, Change(lambda data: data, places=[(1, 0)]))
    assert storage.measured_by(policy, wanted) == {}
