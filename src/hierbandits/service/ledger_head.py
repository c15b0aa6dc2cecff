"""The end of a policy's ledger: its last event, and what all its events add up to."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from hierbandits.service.event_checksum import added, event_checksum
from hierbandits.service.storage import Storage, StorageDamaged, StorageFailed, VersionRecord


class LedgerHead(NamedTuple):
    """The number of the last event, and the total of all checksums."""

    last: int = 0
    total: int = 0

    @classmethod
    def of_row(cls, last: int, total: bytes) -> "LedgerHead":
        """As it is stored."""
        return cls(last, int.from_bytes(total, "big"))

    @property
    def total_bytes(self) -> bytes:
        """The total as it is stored."""
        return self.total.to_bytes(8, "big")

    def followed(
        self, policy: int, events: Iterable[tuple[int, bytes]]
    ) -> tuple[list[tuple[int, int, bytes, bytes]], "LedgerHead"]:
        """Rows for events that come next, and the head after them; StorageFailed at a gap."""
        rows, (last, total) = [], self
        for number, data in events:
            if number != last + 1:
                raise StorageFailed(f"event {number} must come after event {last}")
            last, checksum = number, event_checksum(policy, number, data)
            total = added(total, checksum)
            rows.append((policy, number, data, checksum.to_bytes(8, "big")))
        return rows, LedgerHead(last, total)


def by_policy(
    events: Iterable[tuple[int, int, bytes]],
) -> Iterator[tuple[int, list[tuple[int, bytes]]]]:
    """The numbers and data of events, in order, for each policy in order."""
    for policy, some in groupby(sorted(events), key=lambda event: event[0]):
        yield policy, [(number, data) for _, number, data in some]


def event_digest(policy: int, number: int, data: bytes) -> bytes:
    """The checksum of an event, as it is stored."""
    return event_checksum(policy, number, data).to_bytes(8, "big")


def version_digest(policy: int, version: VersionRecord) -> bytes:
    """The checksum of a version, as it is stored: that of an event before the first."""
    data = b"%d %r " % (version.after, version.created) + version.settings
    return event_digest(policy, (1 << 64) - version.number, data)


def checked_events(
    policy: int, after: int, rows: Iterable[tuple[int, bytes, bytes]]
) -> Iterator[tuple[int, bytes]]:
    """Rows of number, data and checksum after an event: each follows, and is what was written."""
    for number, data, checksum in rows:
        if number != after + 1 or checksum != event_digest(policy, number, data):
            raise StorageDamaged(f"event {after + 1} of policy {policy} is damaged")
        after = number
        yield number, data


def checked_event(policy: int, number: int, data: bytes, checksum: bytes) -> bytes:
    """One event, if it is what was written."""
    if checksum != event_digest(policy, number, data):
        raise StorageDamaged(f"event {number} of policy {policy} is damaged")
    return data


def checked_versions(
    policy: int, rows: Iterable[tuple[int, bytes, int, float, bytes]]
) -> list[VersionRecord]:
    """Rows of number, settings, after, created and checksum, if each is what was written."""
    records = []
    for number, settings, after, created, checksum in rows:
        record = VersionRecord(number, settings, after, created)
        if checksum != version_digest(policy, record):
            raise StorageDamaged(f"version {record.number} of policy {policy} is damaged")
        records.append(record)
    return records


def check_ledgers(storage: Storage, stored_head: Callable[[int], LedgerHead]) -> None:
    """Read all policies; StorageDamaged if any of that is not what was written."""
    for policy in storage.policies():
        storage.versions(policy.id)
        head = stored_head(policy.id)
        while not _adds_up(storage, policy.id, head, stored_head):
            before, head = head, stored_head(policy.id)
            if head == before:  # else a task was deleted meanwhile
                raise StorageDamaged(f"events of policy {policy.name!r} are missing")


def _adds_up(
    storage: Storage, policy: int, head: LedgerHead, stored_head: Callable[[int], LedgerHead]
) -> bool:
    """Whether all events up to the last are there, and no other."""
    last, total = 0, 0
    for number, data in storage.events(policy):
        if number <= head.last or stored_head(policy).last < number:
            last, total = number, added(total, event_checksum(policy, number, data))
    return (last, total) == head
