"""A shared policy as one file: what workers keep as rows becomes events in their order."""

import secrets
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any

import msgspec
import psycopg

from hierbandits.agent.journal import Event
from hierbandits.service.api_problem import not_found
from hierbandits.service.decision_ids import MARK
from hierbandits.service.policy_archive import write_archive
from hierbandits.service.shared_links import LONG, SharedLinks
from hierbandits.service.shared_rollout import SharedRollout
from hierbandits.service.shared_version import ArmChange, SharedVersion
from hierbandits.service.storage import PolicyRecord, VersionRecord
from hierbandits.service.stored_event import encoded
from hierbandits.service.task_groups import SECRET

_AT_ONCE = 2_000  # rows that are read at a time
_ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_VERSIONS = (
    "SELECT number, settings, created FROM shared_versions WHERE policy = %s ORDER BY number"
)
# A reward comes after its decision, whatever the clocks of two workers said.  A default is none:
# whoever reads the file gives it anew, when the settings say so.
_ROWS = (
    "SELECT id, data, NULL::float8 AS value, at, at AS place, 0 AS kind "
    "FROM shared_decisions WHERE policy = %s "
    "UNION ALL SELECT made.id, NULL, value, given.at, greatest(given.at, made.at), 1 "
    "FROM shared_rewards AS given JOIN shared_decisions AS made "
    "ON made.policy = given.policy AND made.id = given.id "
    "WHERE given.policy = %s AND NOT provisional ORDER BY place, kind, id"
)


class RolloutGoesOn(ValueError):
    """Only some tasks have a policy."""


def write_shared(record: PolicyRecord, links: SharedLinks, file: IO[bytes]) -> None:
    """Write a policy as it is at one moment, while workers go on.

    RolloutGoesOn if only some tasks have it: whoever reads the file would decide for all.
    """
    with links.transaction(LONG) as db:
        db.execute(_ONE_MOMENT)
        ramp = SharedRollout(db, record.id).state.ramp
        if ramp.share < 1:
            raise RolloutGoesOn(
                f"rollout of policy {record.name!r} must have come to all tasks before it is "
                f"written to a file; it is {ramp.phase!r}, at a share of {ramp.share:g}"
            )
        log = SharedLog(db, record.id)
        if not log.has_versions:
            raise not_found("policy", record.name)
        write_archive(file, _moved(record), log.events(), log.versions, ())


def _moved(record: PolicyRecord) -> PolicyRecord:
    """A policy as the file names it, whose secret stays.

    Ids that workers made do not say where a decision is in a ledger.  So whoever reads the file
    makes ids of another form, and takes these as any others.
    """
    return replace(record, salt=secrets.token_bytes(MARK) + record.salt[-SECRET:])


class SharedLog:
    """All of a shared policy as the ledger of one process would have it.

    Decisions and rewards come by their times, as do versions, and added and retired arms.  A
    corrected reward is only what it is now, and decisions with a default wait.
    """

    def __init__(self, db: psycopg.Connection[Any], policy: int) -> None:
        self._db, self._policy = db, policy
        rows = db.execute(_VERSIONS, (policy,), binary=True).fetchall()
        self._made = [(number, SharedVersion.from_json(data), at) for number, data, at in rows]
        self.versions: list[VersionRecord] = []
        """The versions that have begun among the events that were read so far."""
        self._number = 0  # of events
        self._changes: list[ArmChange] = []  # that have happened

    @property
    def has_versions(self) -> bool:
        """Whether there is such a policy."""
        return bool(self._made)

    def events(self) -> Iterator[bytes]:
        """All events, each once."""
        with self._db.cursor("export", binary=True) as rows:
            rows.itersize = _AT_ONCE
            for id, data, value, at, place, _ in rows.execute(_ROWS, (self._policy, self._policy)):
                event, version = _event(id, data, value, at)
                yield from self._begun(place, version)
                yield self._next(event)
        yield from self._begun(float("inf"), 0)

    def _next(self, event: Event) -> bytes:
        self._number += 1
        return encoded(event)

    def _begun(self, now: float, version: int) -> Iterator[bytes]:
        """Let the versions begin that are there by now, and this one at any rate."""
        while len(self.versions) < len(self._made):
            number, made, created = self._made[len(self.versions)]
            if created > now and number > version:
                return
            settings = made.settings.to_json()
            self.versions.append(VersionRecord(number, settings, self._number, created))
            new, self._changes = made.changes[len(self._changes) :], made.changes
            for change in new:
                yield self._next(change.to_event(created))


def _event(id: bytes, data: bytes | None, value: float, at: float) -> tuple[Event, int]:
    """A row as an event, and the version that decided; 0 where that is all the same."""
    if data is None:
        return {"kind": "reward", "time": at, "ids": [id.decode()], "values": [value]}, 0
    parts = msgspec.json.decode(data)
    version, best = parts.pop("policy_version"), parts.pop("best", False)
    event = {"kind": "decide", "time": parts["time"], "best": best, "decisions": [parts]}
    return event | {"policy_version": version}, version
