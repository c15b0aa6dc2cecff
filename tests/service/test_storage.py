"""What one commit writes."""

from hierbandits.service.storage import Batch, VersionRecord


def test_a_batch_takes_all_that_another_holds():
    one, two = Batch(events=[(1, 1, b"a")]), Batch(events=[(2, 1, b"b")])
    two.ids.append((2, "x", 1, 0))
    two.rewards.append((2, 1, 0, 1))
    two.assigned.append((2, '"t"', '"a"'))
    two.versions.append((2, VersionRecord(2, b"{}", 1, 0.0)))
    one.add(two)
    assert one.events == [(1, 1, b"a"), (2, 1, b"b")]
    assert (one.ids, one.rewards) == (two.ids, two.rewards)
    assert (one.assigned, one.versions) == (two.assigned, two.versions)


def test_a_batch_is_empty_until_something_happens():
    assert not Batch()
    assert Batch(events=[(1, 1, b"")])
    assert Batch(versions=[(1, VersionRecord(1, b"", 0, 0.0))])


def test_batches_share_nothing():
    Batch().events.append((1, 1, b""))
    assert Batch().events == []
