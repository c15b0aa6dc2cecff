"""Connections of a worker to the store that it shares with others."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from hierbandits.service.postgres_tables import check_tables, migrate
from hierbandits.service.postgres_writer import PATIENCE, WRITING, limit_transactions
from hierbandits.service.socket_watch import SocketWatch
from hierbandits.service.store_url import StoreUrl

LONG = 3600.0
"""Seconds that whole logs and policies may take."""


class SharedLinks:
    """Transactions in any thread, each on a connection that nobody else uses meanwhile.

    StorageFailed if something did not happen, or if the connection was lost and nobody knows.
    """

    def __init__(self, url: str) -> None:
        self.url = StoreUrl(url)
        self._watch = SocketWatch()
        self._turn = threading.Lock()
        self._idle: list[psycopg.Connection[Any]] = []
        try:
            with self.url.connect(**WRITING) as connection, self.url.faults():
                migrate(connection)
        except BaseException:
            self._watch.close()
            raise

    def _new(self) -> psycopg.Connection[Any]:
        connection = self.url.connect(**WRITING)
        try:
            with self._watch.limit(connection, PATIENCE), self.url.faults():
                check_tables(connection)
                limit_transactions(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _begun(
        self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()
    ) -> tuple[psycopg.Connection[Any], psycopg.Cursor[Any]]:
        """A connection on which something has begun that may be done twice.

        One that was lost while nobody used it is made anew.
        """
        with self._turn:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                with self._watch.limit(connection, PATIENCE):
                    return connection, connection.execute(sql, values, binary=True)
            except psycopg.Error:
                connection.close()
                self._let_go()  # the others are lost, too
        connection = self._new()
        try:
            with self._watch.limit(connection, PATIENCE), self.url.faults():
                return connection, connection.execute(sql, values, binary=True)
        except BaseException:
            connection.close()
            raise

    def _give_back(self, connection: psycopg.Connection[Any]) -> None:
        with self._turn:
            self._idle.append(connection)

    @contextmanager
    def transaction(self, longest: float = PATIENCE) -> Iterator[psycopg.Connection[Any]]:
        """What the block does happens wholly, and is on the server's disk, or not at all.

        It may take `longest` seconds.
        """
        connection, _ = self._begun("BEGIN")
        is_sound = False
        try:
            with self._watch.limit(connection, longest), self.url.faults():
                if longest > PATIENCE:
                    limit_transactions(connection, "SET LOCAL", round(1000 * longest))
                yield connection
                connection.execute("COMMIT")
                is_sound = True
        finally:
            if is_sound:
                self._give_back(connection)
            else:  # whatever was begun ends with its session
                connection.close()

    def read(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """All rows of a query, as of one moment."""
        connection, found = self._begun(sql, values)
        rows = found.fetchall()
        self._give_back(connection)
        return rows

    def _let_go(self) -> None:
        with self._turn:
            idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(psycopg.Error):
                connection.close()

    def close(self) -> None:
        """Let go of all connections."""
        self._let_go()
        self._watch.close()
