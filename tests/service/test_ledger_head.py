"""The end of a ledger: what follows, and what all events add up to."""

import pytest

from hierbandits.service.event_checksum import added, event_checksum
from hierbandits.service.ledger_head import (
    LedgerHead,
    by_policy,
    checked_event,
    checked_events,
    event_digest,
)
from hierbandits.service.storage import StorageDamaged, StorageFailed


def test_events_that_follow_are_numbered_and_added():
    rows, head = LedgerHead().followed(3, [(1, b"x"), (2, b"y")])
    assert rows == [(3, 1, b"x", event_digest(3, 1, b"x")), (3, 2, b"y", event_digest(3, 2, b"y"))]
    total = added(event_checksum(3, 1, b"x"), event_checksum(3, 2, b"y"))
    assert head == (2, total)
    assert head == LedgerHead().followed(3, [(1, b"x")])[1].followed(3, [(2, b"y")])[1]
    assert LedgerHead.of_row(2, head.total_bytes) == head


@pytest.mark.parametrize("numbers", [[2], [1, 3], [1, 1], [0]])
def test_a_gap_is_refused(numbers):
    with pytest.raises(StorageFailed, match="must come after event"):
        LedgerHead().followed(3, [(number, b"x") for number in numbers])


def test_events_are_sorted_by_policy_and_number():
    events = [(2, 2, b"a"), (1, 1, b"b"), (2, 1, b"c")]
    assert list(by_policy(events)) == [(1, [(1, b"b")]), (2, [(1, b"c"), (2, b"a")])]


def test_what_is_read_must_be_what_was_written():
    good = [(number, b"x", event_digest(3, number, b"x")) for number in (5, 6)]
    assert list(checked_events(3, 4, good)) == [(5, b"x"), (6, b"x")]
    for bad in ([good[1]], [good[0], (6, b"y", good[1][2])], [good[0], good[0]]):
        with pytest.raises(StorageDamaged, match="is damaged"):
            list(checked_events(3, 4, bad))
    assert checked_event(3, 5, b"x", good[0][2]) == b"x"
    with pytest.raises(StorageDamaged, match="event 5 of policy 4"):
        checked_event(4, 5, b"x", good[0][2])
