"""The ledger in a PostgreSQL database."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from hierbandits.service.event_checksum import event_checksum, replaced
from hierbandits.service.ledger_head import (
    LedgerHead,
    check_ledgers,
    checked_event,
    checked_events,
    checked_versions,
)
from hierbandits.service.postgres_readers import PostgresReaders
from hierbandits.service.postgres_rows import (
    columns,
    locked_heads,
    put_heads,
    put_rows,
    task_key,
)
from hierbandits.service.postgres_tables import MIGRATIONS, OF_A_POLICY, Migration
from hierbandits.service.postgres_writer import PostgresWriter
from hierbandits.service.socket_watch import SocketWatch
from hierbandits.service.storage import (
    Batch,
    NotOurs,
    Place,
    PolicyRecord,
    Rewriting,
    StorageFailed,
    VersionRecord,
)
from hierbandits.service.store_url import StoreUrl

_AT_ONCE = 500  # rows that a reader takes at a time


class PostgresStorage:
    """A `Storage` in the database of an address.

    One process at a time has it open for writing.  Another is refused, or waits for its turn.
    """

    def __init__(
        self,
        url: str,
        *,
        read_only: bool = False,
        waits: bool = False,
        migrations: Sequence[Migration] = MIGRATIONS,
    ) -> None:
        self.url = StoreUrl(url)
        self._watch = SocketWatch()
        self._readers = PostgresReaders(self.url, self._watch)
        self._writer: PostgresWriter | None = None
        if not read_only:
            try:
                self._writer = PostgresWriter(
                    self.url, self._watch, waits=waits, migrations=migrations
                )
            except BaseException:
                self._watch.close()
                raise

    @property
    def writer(self) -> PostgresWriter:
        """What writes; StorageFailed if the storage is for reading only."""
        if self._writer is None:
            raise StorageFailed(f"{self.url} is open for reading only")
        return self._writer

    @property
    def is_over(self) -> bool:
        """Whether another process has taken over: this one can write no more."""
        return self._writer is not None and self._writer.is_over

    def policies(self) -> list[PolicyRecord]:
        """All policies."""
        rows = self._readers.read("SELECT id, name, salt, created FROM policies")
        return sorted((PolicyRecord(*row) for row in rows), key=lambda record: record.name)

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
        record = PolicyRecord(secrets.randbits(62), name, salt, created)
        with self.writer.transaction(is_long=content is not None) as db:
            db.execute(
                "INSERT INTO policies (id, name, salt, created) VALUES (%s, %s, %s, %s)",
                (record.id, name, salt, created),
            )
            db.execute(
                "INSERT INTO heads (policy, last, total) VALUES (%s, 0, %s)",
                (record.id, LedgerHead().total_bytes),
            )
            first = VersionRecord(1, settings, 0, created)
            put_rows(db, Batch(versions=[(record.id, first)]))
            for batch in () if content is None else content(record):
                put_rows(db, batch)
        return record

    def delete_policy(self, policy: int) -> None:
        """Erase a policy with all its events."""
        with self.writer.transaction(is_long=True) as db:
            for table in OF_A_POLICY:
                db.execute(f"DELETE FROM {table} WHERE policy = %s", (policy,))
            db.execute("DELETE FROM policies WHERE id = %s", (policy,))

    def versions(self, policy: int) -> list[VersionRecord]:
        """The versions of a policy, the first one first."""
        sql = (
            "SELECT number, settings, after, created, checksum FROM versions WHERE policy = %s "
            "ORDER BY number"
        )
        return checked_versions(policy, self._readers.read(sql, policy))

    def commit(self, batch: Batch) -> None:
        """Write a batch; StorageFailed if that cannot be done."""
        with self.writer.transaction() as db:
            put_rows(db, batch)

    def try_writing(self) -> None:
        """Write what changes nothing; StorageFailed if that cannot be done."""
        with self.writer.transaction() as db:
            db.execute("UPDATE owner SET mark = mark")

    def last(self, policy: int) -> int:
        """The number of the last event; the first is 1."""
        return self._stored_head(policy).last

    def _stored_head(self, policy: int) -> LedgerHead:
        sql = "SELECT last, total FROM heads WHERE policy = %s"
        for row in self._readers.read(sql, policy):
            return LedgerHead.of_row(*row)
        return LedgerHead()

    def events(self, policy: int, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """The events after one, in order, each checked."""
        while True:
            rows = self._readers.read(
                "SELECT number, data, checksum FROM events WHERE policy = %s AND number > %s "
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
        sql = "SELECT data, checksum FROM events WHERE policy = %s AND number = %s"
        for data, checksum in self._readers.read(sql, policy, number):
            return checked_event(policy, number, data, checksum)
        return None

    def find_ids(self, policy: int, ids: Sequence[str]) -> Mapping[str, Place]:
        """The places of decisions whose ids were given by clients; unknown ones are left out."""
        sql = "SELECT id, number, place FROM ids WHERE policy = %s AND id = ANY(%s::bytea[])"
        rows = self._readers.read(sql, policy, [id.encode() for id in ids])
        return {id.decode(): (number, place) for id, number, place in rows}

    def rewarded_by(self, policy: int, places: Iterable[Place]) -> Mapping[Place, int]:
        """The event that rewarded each of these decisions last; others are left out."""
        wanted = columns(places, 2)
        sql = (
            "SELECT number, place, event FROM unnest(%s::bigint[], %s::bigint[]) "
            "AS wanted (number, place) JOIN rewards USING (number, place) WHERE policy = %s"
        )
        rows = self._readers.read(sql, *wanted, policy) if wanted[0] else []
        return {(number, place): event for number, place, event in rows}

    def measured_by(
        self, policy: int, wanted: Iterable[tuple[Place, str]]
    ) -> Mapping[tuple[Place, str], int]:
        """The event that brought each of these metrics of decisions; others are left out."""
        rows_wanted = columns(((*place, name.encode()) for place, name in wanted), 3)
        sql = (
            "SELECT number, place, name, event "
            "FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) AS wanted (number, place, name) "
            "JOIN measured USING (number, place, name) WHERE policy = %s"
        )
        rows = self._readers.read(sql, *rows_wanted, policy) if rows_wanted[0] else []
        return {((number, place), name.decode()): event for number, place, name, event in rows}

    def assigned(self, policy: int, tasks: Sequence[str]) -> Mapping[str, str]:
        """The arms that tasks keep, as JSON both."""
        sql = "SELECT task, arm FROM assigned WHERE policy = %s AND task_key = ANY(%s::bytea[])"
        rows = self._readers.read(sql, policy, [task_key(task) for task in tasks])
        return {task.decode(): arm.decode() for task, arm in rows}

    def assignments(self, policy: int) -> list[tuple[str, str]]:
        """All tasks that keep an arm, and the arms, as JSON both."""
        sql = "SELECT task, arm FROM assigned WHERE policy = %s ORDER BY task"
        return [(task.decode(), arm.decode()) for task, arm in self._readers.read(sql, policy)]

    def rewrite(self, policy: int, change: Rewriting) -> int:
        """Change events for good; returns how many were changed."""
        changed = 0
        with self.writer.transaction(is_long=True) as db:
            last, total = locked_heads(db, [policy])[policy]
            for number, old in self.events(policy):
                new = change(old)
                if new != old:
                    was = event_checksum(policy, number, old)
                    checksum = event_checksum(policy, number, new)
                    total, changed = replaced(total, was, checksum), changed + 1
                    db.execute(
                        "UPDATE events SET data = %s, checksum = %s "
                        "WHERE policy = %s AND number = %s",
                        (new, checksum.to_bytes(8, "big"), policy, number),
                    )
            put_heads(db, {policy: LedgerHead(last, total)})
            gone = policy, [id.encode() for id in change.ids]
            db.execute("DELETE FROM ids WHERE policy = %s AND id = ANY(%s::bytea[])", gone)
            for table in ("rewards", "measured"):
                db.execute(
                    f"DELETE FROM {table} WHERE policy = %s AND (number, place) IN "
                    "(SELECT * FROM unnest(%s::bigint[], %s::bigint[]))",
                    (policy, *columns(change.places, 2)),
                )
            db.execute(
                "DELETE FROM assigned WHERE policy = %s AND task_key = %s",
                (policy, task_key(change.task)),
            )
        return changed

    def check(self) -> None:
        """Read everything; StorageDamaged if any of it is not what was written."""
        check_ledgers(self, self._stored_head)

    def backup(self, path: str) -> None:
        """Refused: PostgreSQL has its own means."""
        raise NotOurs(
            f"backup must be of a data folder, got the store {self.url}: use pg_dump, or the "
            "backups of your server"
        )

    @property
    def owners(self) -> tuple[str, str]:
        """Marks of the process that wrote before this one, and of this one."""
        return self.writer.mark_before, self.writer.mark

    def close(self) -> None:
        """Write no more."""
        if self._writer is not None:
            self._writer.close()
        self._readers.close()
        self._watch.close()
