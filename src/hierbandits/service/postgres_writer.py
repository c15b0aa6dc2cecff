"""The one connection that writes to a ledger in PostgreSQL, and keeps other writers out."""

import logging
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from time import sleep
from typing import Any

import psycopg

from hierbandits.service.json_log import say
from hierbandits.service.postgres_tables import MIGRATIONS, Migration, check_tables, migrate
from hierbandits.service.socket_watch import SocketWatch
from hierbandits.service.storage import StorageFailed
from hierbandits.service.store_url import StoreUrl

_OWNING = 0x68626E64, 1  # the advisory lock of whoever writes
_BEAT = 2.0  # seconds between signs of life
_TAKEN_AFTER = 15_000
"""Milliseconds without a sign of life after which the server lets another process write."""
WRITING: dict[str, str | int] = {
    "synchronous_commit": "on",
    "idle_in_transaction_session_timeout": _TAKEN_AFTER,
    "client_connection_check_interval": 2_000,
    "tcp_keepalives_idle": 5,
    "tcp_keepalives_interval": 2,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "lock_timeout": 10_000,
}
"""Settings of connections that write."""
_SETTINGS = WRITING | {"idle_session_timeout": _TAKEN_AFTER}
PATIENCE = 20.0
"""Seconds that a commit may take."""
_LONGEST_TRANSACTION = 30_000  # milliseconds
_LONG = 3600.0  # that a whole policy may take


class InUse(RuntimeError):
    """Another process serves the database."""


class PostgresWriter:
    """Transactions of the one process that writes.

    The connection that writes holds an advisory lock of its session.  While it can write, nobody
    else can; when it is lost, so is the lock, and what it had begun is settled before anyone else
    has the lock.  Each new owner leaves a mark.  A process that has lost the connection goes on
    if the mark is still its own; if not, another process has written meanwhile: `is_over`.
    """

    def __init__(
        self,
        url: StoreUrl,
        watch: SocketWatch,
        *,
        waits: bool = False,
        migrations: Sequence[Migration] = MIGRATIONS,
    ) -> None:
        self._url, self._watch, self._migrations = url, watch, migrations
        self._turn = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self.mark, self.mark_before = secrets.token_hex(16), ""
        self.is_over = False
        self._has_owned = False
        self._begin(waits)
        self._stop = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="store owner", daemon=True)
        self._heart.start()

    def _begin(self, waits: bool) -> None:
        """Become the owner, as soon as nobody else is."""
        has_connected = has_said = False
        while True:
            try:
                self._connected()
                return
            except InUse:
                if not waits:
                    raise
                has_connected = True
            except StorageFailed:
                if not has_connected:
                    raise
            if not has_said:
                say("another process serves the store: waiting for it to end", store=str(self._url))
                has_said = True
            sleep(0.5)

    def _connected(self) -> psycopg.Connection[Any]:
        """The connection that owns the ledger, made anew if it was lost."""
        if self.is_over:
            raise StorageFailed("another process has taken over the store")
        if self._connection is None or self._connection.closed:
            self._connection = None
            connection = self._url.connect(**_SETTINGS)
            try:
                with self._watch.limit(connection, _LONG), self._url.faults():
                    self._own(connection)
                    limit_transactions(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _own(self, connection: psycopg.Connection[Any]) -> None:
        (is_owner,) = _row(connection, "SELECT pg_try_advisory_lock(%s, %s)", _OWNING)
        if self._has_owned:
            try:
                check_tables(connection, self._migrations)
            except ValueError as error:  # what was asked of this process is right all the same
                raise StorageFailed(str(error)) from None
            (mark,) = _row(connection, "SELECT mark FROM owner", ())
            if mark != self.mark:
                self.is_over = True
                raise StorageFailed("another process has taken over the store")
            if not is_owner:
                raise StorageFailed("the server has not given up the lost connection yet")
            say("the store is reached again", store=str(self._url))
            return
        if not is_owner:
            raise InUse(f"store must not be in use, but another process serves {self._url}")
        migrate(connection, self._migrations)
        with connection.transaction():
            before = connection.execute("SELECT mark FROM owner").fetchone()
            self.mark_before = "" if before is None else before[0]
            connection.execute(
                "INSERT INTO owner (only_one, mark) VALUES (true, %s) "
                "ON CONFLICT (only_one) DO UPDATE SET mark = EXCLUDED.mark",
                (self.mark,),
            )
        self._has_owned = True

    @contextmanager
    def transaction(self, *, is_long: bool = False) -> Iterator[psycopg.Connection[Any]]:
        """What the block does happens wholly, and is on the server's disk, or not at all.

        StorageFailed if it did not happen, or if the connection was lost and nobody knows.
        """
        with self._turn:
            connection = self._connected()
            limit = self._watch.limit(connection, _LONG if is_long else PATIENCE)
            with limit, self._url.faults(), connection.transaction():
                if is_long:
                    limit_transactions(connection, "SET LOCAL", 0)
                yield connection

    def _beat(self) -> None:
        """Show the server that this process lives, and find out that the connection is lost."""
        while not self._stop.wait(_BEAT):
            if not self._turn.acquire(blocking=False):
                continue  # it is in use
            try:
                connection = self._connected()
                with self._watch.limit(connection, PATIENCE), self._url.faults():
                    connection.execute("SELECT 1")
            except (StorageFailed, ValueError) as error:
                say("the store cannot be written", logging.WARNING, error=str(error))
            except Exception as error:
                say("the store cannot be written", logging.ERROR, error=repr(error))
            finally:
                self._turn.release()

    def close(self) -> None:
        """Write no more, and let others."""
        self._stop.set()
        self._heart.join()
        with self._turn:
            if self._connection is not None:
                limit = self._watch.limit(self._connection, PATIENCE)
                with suppress(psycopg.Error), limit:  # others need not wait for the session's end
                    self._connection.execute("SELECT pg_advisory_unlock(%s, %s)", _OWNING)
                self._connection.close()
            self.is_over = True


def limit_transactions(
    connection: psycopg.Connection[Any], how: str = "SET", limit: int | None = None
) -> None:
    """Let the server end transactions that are cut off in the middle of a message.

    While it waits for the rest of a question, none of the other limits holds.
    """
    if connection.info.server_version >= 170_000:
        limit = _LONGEST_TRANSACTION if limit is None else limit
        if how == "SET LOCAL":  # a clock that runs already is not set anew, unless it is stopped
            connection.execute("SET LOCAL transaction_timeout = 0")
        connection.execute(f"{how} transaction_timeout = {limit}")


def _row(connection: psycopg.Connection[Any], sql: str, values: Sequence[Any]) -> Any:
    row = connection.execute(sql, values).fetchone()
    return (None,) if row is None else row
