"""The ledger in an SQLite file."""

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from hierbandits.service.event_checksum import event_checksum, replaced
from hierbandits.service.ledger_head import (
    LedgerHead,
    by_policy,
    check_ledgers,
    checked_event,
    checked_events,
    checked_versions,
    version_digest,
)
from hierbandits.service.sqlite_file import SqliteFile
from hierbandits.service.storage import (
    Batch,
    Place,
    PolicyRecord,
    Rewriting,
    StorageDamaged,
    StorageFailed,
    VersionRecord,
)

FORMAT = 2
"""The version of the tables."""

_AT_ONCE = 500  # rows that a reader takes at a time

_TABLES = """
CREATE TABLE policies (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, salt BLOB NOT NULL, created REAL NOT NULL
) STRICT;
CREATE TABLE versions (
    policy INTEGER NOT NULL, number INTEGER NOT NULL, settings BLOB NOT NULL,
    after INTEGER NOT NULL, created REAL NOT NULL, checksum BLOB NOT NULL,
    PRIMARY KEY (policy, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE heads (policy INTEGER PRIMARY KEY, last INTEGER NOT NULL, total BLOB NOT NULL) STRICT;
CREATE TABLE events (
    policy INTEGER NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL, checksum BLOB NOT NULL,
    PRIMARY KEY (policy, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE ids (
    policy INTEGER NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL, place INTEGER NOT NULL,
    PRIMARY KEY (policy, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE rewards (
    policy INTEGER NOT NULL, number INTEGER NOT NULL, place INTEGER NOT NULL,
    event INTEGER NOT NULL, PRIMARY KEY (policy, number, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE assigned (
    policy INTEGER NOT NULL, task TEXT NOT NULL, arm TEXT NOT NULL, PRIMARY KEY (policy, task)
) STRICT, WITHOUT ROWID;
"""
_MEASURED = """
CREATE TABLE measured (
    policy INTEGER NOT NULL, number INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL,
    event INTEGER NOT NULL, PRIMARY KEY (policy, number, place, name)
) STRICT, WITHOUT ROWID;
"""
_UPGRADES = {1: _MEASURED}
_OF_A_POLICY = ("versions", "heads", "events", "ids", "rewards", "measured", "assigned")


class SqliteStorage:
    """A `Storage` in one file."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._file = SqliteFile(path, _TABLES + _MEASURED, FORMAT, _UPGRADES, read_only=read_only)
        self._heads = {
            policy: LedgerHead.of_row(last, total)
            for policy, last, total in self._file.read("SELECT * FROM heads")
        }
        self._new_heads = self._heads  # of the transaction that is under way

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        """A transaction; nobody sees its heads before it is on the disk."""
        with self._file.writing() as db:
            self._new_heads = dict(self._heads)
            yield db
        self._heads = self._new_heads

    def policies(self) -> list[PolicyRecord]:
        """All policies."""
        rows = self._file.read("SELECT id, name, salt, created FROM policies ORDER BY name")
        return [PolicyRecord(*row) for row in rows]

    def create_policy(
        self,
        name: str,
        settings: bytes,
        created: float,
        *,
        salt: bytes | None = None,
        content: Callable[[PolicyRecord], Iterable[Batch]] | None = None,
    ) -> PolicyRecord:
        """A new policy with its first version."""
        salt = secrets.token_bytes(16) if salt is None else salt
        with self._writing() as db:
            # An id is never used again: what is left of a policy in a backup stays its own.
            (row,) = db.execute(
                "INSERT INTO policies VALUES (?, ?, ?, ?) RETURNING id",
                (secrets.randbits(62), name, salt, created),
            )
            self._put_head(db, row[0], LedgerHead())
            self._put_version(db, row[0], VersionRecord(1, settings, 0, created))
            record = PolicyRecord(row[0], name, salt, created)
            if content is not None:
                for batch in content(record):
                    self._put_rows(db, batch)
        return record

    def delete_policy(self, policy: int) -> None:
        """Erase a policy with all its events."""
        with self._writing() as db:
            for table in _OF_A_POLICY:
                db.execute(f"DELETE FROM {table} WHERE policy = ?", (policy,))
            db.execute("DELETE FROM policies WHERE id = ?", (policy,))
            self._new_heads.pop(policy, None)
        self._file.empty_log()

    def versions(self, policy: int) -> list[VersionRecord]:
        """The versions of a policy, the first one first."""
        rows = self._file.read(
            "SELECT number, settings, after, created, checksum FROM versions WHERE policy = ? "
            "ORDER BY number",
            policy,
        )
        return checked_versions(policy, rows)

    def _put_version(self, db: apsw.Connection, policy: int, version: VersionRecord) -> None:
        number, settings, checksum = (
            version.number,
            version.settings,
            version_digest(policy, version),
        )
        row = policy, number, settings, version.after, version.created, checksum
        db.execute("INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?)", row)

    def _put_head(self, db: apsw.Connection, policy: int, head: LedgerHead) -> None:
        self._new_heads[policy] = head
        row = policy, head.last, head.total_bytes
        db.execute("INSERT OR REPLACE INTO heads VALUES (?, ?, ?)", row)

    def _head(self, policy: int) -> LedgerHead:
        """The end of a policy's ledger, in a transaction."""
        if policy not in self._new_heads:
            raise StorageFailed(f"policy {policy} is deleted")
        return self._new_heads[policy]

    def commit(self, batch: Batch) -> None:
        """Write a batch; StorageFailed if that cannot be done."""
        with self._writing() as db:
            self._put_rows(db, batch)

    def _put_rows(self, db: apsw.Connection, batch: Batch) -> None:
        rows = []
        for policy, events in by_policy(batch.events):
            numbered, head = self._head(policy).followed(policy, events)
            rows += numbered
            self._put_head(db, policy, head)
        for policy, version in batch.versions:
            self._put_version(db, policy, version)
        db.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
        db.executemany("INSERT INTO ids VALUES (?, ?, ?, ?)", batch.ids)
        db.executemany("INSERT OR REPLACE INTO rewards VALUES (?, ?, ?, ?)", batch.rewards)
        db.executemany("INSERT INTO measured VALUES (?, ?, ?, ?, ?)", batch.measures)
        db.executemany("INSERT OR REPLACE INTO assigned VALUES (?, ?, ?)", batch.assigned)

    def try_writing(self) -> None:
        """Write what changes nothing; StorageFailed if that cannot be done."""
        with self._file.writing() as db:
            db.pragma("user_version", FORMAT)  # a page of its own, be it the same or not

    def last(self, policy: int) -> int:
        """The number of the last event; the first is 1."""
        return self._heads[policy].last if policy in self._heads else 0

    def events(self, policy: int, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """The events after one, in order, each checked."""
        while True:
            rows = self._file.read(
                "SELECT number, data, checksum FROM events WHERE policy = ? AND number > ? "
                f"ORDER BY number LIMIT {_AT_ONCE}",
                *(policy, after),
            )
            for number, data in checked_events(policy, after, rows):
                after = number
                yield number, data
            if len(rows) < _AT_ONCE:
                return

    def event(self, policy: int, number: int) -> bytes | None:
        """One event, checked; None if there is none."""
        sql = "SELECT data, checksum FROM events WHERE policy = ? AND number = ?"
        for data, checksum in self._file.read(sql, policy, number):
            return checked_event(policy, number, data, checksum)
        return None

    def find_ids(self, policy: int, ids: Sequence[str]) -> Mapping[str, Place]:
        """The places of decisions whose ids were given by clients; unknown ones are left out."""
        rows = self._file.read(
            "SELECT value, number, place FROM json_each(?) "
            "JOIN ids ON ids.id = value AND policy = ?",
            *(json.dumps(list(ids)), policy),
        )
        return {id: (number, place) for id, number, place in rows}

    def rewarded_by(self, policy: int, places: Iterable[Place]) -> Mapping[Place, int]:
        """The event that rewarded each of these decisions last; others are left out."""
        sql = "SELECT event FROM rewards WHERE policy = ? AND number = ? AND place = ?"
        found = {}
        for number, place in places:
            for (event,) in self._file.read(sql, policy, number, place):
                found[number, place] = event
        return found

    def measured_by(
        self, policy: int, wanted: Iterable[tuple[Place, str]]
    ) -> Mapping[tuple[Place, str], int]:
        """The event that brought each of these metrics of decisions; others are left out."""
        sql = (
            "SELECT event FROM measured WHERE policy = ? AND number = ? AND place = ? AND name = ?"
        )
        found = {}
        for (number, place), name in wanted:
            for (event,) in self._file.read(sql, policy, number, place, name):
                found[(number, place), name] = event
        return found

    def assigned(self, policy: int, tasks: Sequence[str]) -> Mapping[str, str]:
        """The arms that tasks keep, as JSON both."""
        rows = self._file.read(
            "SELECT task, arm FROM json_each(?) JOIN assigned ON task = value AND policy = ?",
            *(json.dumps(list(tasks)), policy),
        )
        return dict(rows)

    def assignments(self, policy: int) -> list[tuple[str, str]]:
        """All tasks that keep an arm, and the arms, as JSON both."""
        sql = "SELECT task, arm FROM assigned WHERE policy = ? ORDER BY task"
        return self._file.read(sql, policy)

    def rewrite(self, policy: int, change: Rewriting) -> int:
        """Change events for good; returns how many were changed."""
        changed = 0
        with self._writing() as db:
            last, total = self._head(policy)
            for number, old in self.events(policy):
                new = change(old)
                if new != old:
                    was = event_checksum(policy, number, old)
                    checksum = event_checksum(policy, number, new)
                    total, changed = replaced(total, was, checksum), changed + 1
                    db.execute(
                        "UPDATE events SET data = ?, checksum = ? WHERE policy = ? AND number = ?",
                        (new, checksum.to_bytes(8, "big"), policy, number),
                    )
            self._put_head(db, policy, LedgerHead(last, total))
            ids = [(policy, id) for id in change.ids]
            db.executemany("DELETE FROM ids WHERE policy = ? AND id = ?", ids)
            places = [(policy, *place) for place in change.places]
            for table in ("rewards", "measured"):
                sql = f"DELETE FROM {table} WHERE policy = ? AND number = ? AND place = ?"
                db.executemany(sql, places)
            kept = policy, change.task
            db.execute("DELETE FROM assigned WHERE policy = ? AND task = ?", kept)
        self._file.empty_log()
        return changed

    def check(self) -> None:
        """Read everything; StorageDamaged if any of it is not what was written."""
        ((report,),) = self._file.read("PRAGMA integrity_check(1)")
        if report != "ok":
            raise StorageDamaged(f"{self._file.path} is damaged: {report}")
        check_ledgers(self, self._stored_head)

    def _stored_head(self, policy: int) -> LedgerHead:
        """The end of a policy's ledger, as the file says."""
        for row in self._file.read("SELECT last, total FROM heads WHERE policy = ?", policy):
            return LedgerHead.of_row(*row)
        return LedgerHead()

    def backup(self, path: str) -> None:
        """Write a copy, as of one moment, while others go on."""
        self._file.read("VACUUM INTO ?", path)

    @property
    def is_over(self) -> bool:
        """Never: a lock keeps other processes out of the folder."""
        return False

    @property
    def owners(self) -> tuple[str, str]:
        """None: what is in the folder is of this ledger."""
        return "", ""

    def close(self) -> None:
        """Write no more."""
        self._file.close()
