"""Moves all that a service knows from a data folder to a store, or back."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest

from hierbandits.service.data_place import DataPlace
from hierbandits.service.policy_archive import PolicyArchive
from hierbandits.service.service import FolderLock
from hierbandits.service.storage import PolicyRecord, Storage


@dataclass(frozen=True, slots=True)
class MovedPolicy:
    """A policy that is at both places now, event by event."""

    name: str
    versions: int
    events: int
    was_there: bool
    """Whether an earlier move, that was cut off, had brought it."""


@dataclass(frozen=True, slots=True)
class StoredEvents:
    """The events of a policy, read anew each time."""

    storage: Storage
    policy: int

    def __iter__(self) -> Iterator[bytes]:
        return (data for _, data in self.storage.events(self.policy))


def move_ledgers(
    source: DataPlace,
    target: DataPlace,
    progress: Callable[[str], object] = lambda words: None,
) -> list[MovedPolicy]:
    """Write all policies and tokens of one place to another, and compare every event.

    Nobody may serve either place.  The target must be empty, or hold what an earlier move of the
    same source has left.  Each policy comes wholly or not at all.  The source stays as it is.
    """
    if not source.has_ledger:
        raise ValueError(f"data must be a data folder, got {source} without ledger.db")
    with ExitStack() as stack:
        for folder in {place.folder for place in (source, target) if place.store is None}:
            folder.mkdir(parents=True, exist_ok=True)
            stack.callback(FolderLock(folder).release)
        here = source.storage()
        stack.callback(here.close)
        there = target.storage()
        stack.callback(there.close)
        progress(f"checksums of {source}")
        here.check()
        known = {record.name: record for record in there.policies()}
        records = here.policies()
        for record in records:
            if record.name in known:
                _check_same(record, here, known[record.name], there, target)
        strangers = sorted(known.keys() - {record.name for record in records})
        if strangers:
            raise ValueError(f"target must be empty, but {target} has policy {strangers[0]!r}")
        move_tokens(source, target)
        return [
            _moved(record, here, there, target, progress, was_there=record.name in known)
            for record in records
        ]


def _moved(
    record: PolicyRecord,
    here: Storage,
    there: Storage,
    target: DataPlace,
    progress: Callable[[str], object],
    *,
    was_there: bool,
) -> MovedPolicy:
    versions = here.versions(record.id)
    if not was_there:
        progress(f"policy {record.name}")
        kept = list(here.assignments(record.id))
        archive = PolicyArchive(record.salt, versions, StoredEvents(here, record.id), kept)
        first = versions[0]
        made = there.create_policy(
            record.name, first.settings, first.created, salt=record.salt, content=archive.batches
        )
        _check_same(record, here, made, there, target)
    return MovedPolicy(record.name, len(versions), here.last(record.id), was_there)


def _check_same(
    record: PolicyRecord, here: Storage, other: PolicyRecord, there: Storage, target: DataPlace
) -> None:
    """Refuse a policy at the target that is not, event by event, that of the source."""
    events = zip_longest(here.events(record.id), there.events(other.id))
    is_same = (
        record.salt == other.salt
        and here.versions(record.id) == there.versions(other.id)
        and sorted(here.assignments(record.id)) == sorted(there.assignments(other.id))
        and all(one == two for one, two in events)
    )
    if not is_same:
        raise ValueError(f"target must be empty, but {target} has another policy {record.name!r}")


def move_tokens(source: DataPlace, target: DataPlace) -> None:
    """Write all tokens of one place to another, which has none, or these."""
    here, there = source.tokens(), target.tokens()
    try:
        if len(here):
            there.adopt(here)
    finally:
        here.close()
        there.close()
