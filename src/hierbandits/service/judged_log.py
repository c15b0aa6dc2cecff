"""The log by which candidates are judged: of a process that is alone, or of many workers."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from hierbandits.service.api_problem import not_found
from hierbandits.service.data_place import DataPlace
from hierbandits.service.log_export import LoggedDecision, logged_decisions
from hierbandits.service.shared_version import ArmChange
from hierbandits.service.storage import PolicyRecord, Storage
from hierbandits.service.stored_event import decoded


@dataclass(frozen=True, slots=True)
class JudgedLog:
    """The decisions of a policy, and the arms that it has been given since it was made."""

    decisions: Iterable[LoggedDecision]
    added_arms: Iterable[ArmChange]
    until: int | None
    """The last event that is read; None where events have no numbers."""


@contextmanager
def log_of_one(place: DataPlace, policy: str) -> Iterator[JudgedLog]:
    """The log of a policy that one process serves."""
    storage = place.storage(read_only=True)
    try:
        records = [one for one in storage.policies() if one.name == policy]
        if not records:
            raise not_found("policy", policy)
        (record,) = records
        until = storage.last(record.id)
        decisions = logged_decisions(record, storage, until)
        yield JudgedLog(decisions, _added_arms(record, storage), until)
    finally:
        storage.close()


def _added_arms(record: PolicyRecord, storage: Storage) -> Iterator[ArmChange]:
    for _, data in storage.events(record.id):
        if msgspec.json.decode(data, type=_Kind).kind == "add_arm":
            yield ArmChange.from_event(decoded(data))


class _Kind(msgspec.Struct):
    kind: str


@contextmanager
def log_of_workers(place: DataPlace, policy: str) -> Iterator[JudgedLog]:
    """The log of a policy that workers of a store share."""
    from hierbandits.service.shared_book import SharedBook
    from hierbandits.service.shared_folder import newest, version_of
    from hierbandits.service.shared_ledger import logged_by_workers
    from hierbandits.service.shared_links import SharedLinks

    assert place.store is not None
    links = SharedLinks(place.store)
    try:
        record = SharedBook(links).record(policy)
        with links.transaction() as db:
            now, _ = newest(db, record.id)
            made = None if now is None else version_of(db, record.id, now.version)
        if made is None:
            raise not_found("policy", policy)
        added = [one for one in made.changes if one.kind == "add_arm"]
        yield JudgedLog(logged_by_workers(links, record.id), added, None)
    finally:
        links.close()
