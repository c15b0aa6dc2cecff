"""Connections that read a ledger in PostgreSQL, as many as there are threads that read."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import psycopg

from hierbandits.service.socket_watch import SocketWatch
from hierbandits.service.store_url import StoreUrl

_PATIENCE = 20.0  # seconds for an answer
_SETTINGS: dict[str, str | int] = {"default_transaction_read_only": "on"}


class PostgresReaders:
    """Reads in any thread; nothing can be written."""

    def __init__(self, url: StoreUrl, watch: SocketWatch) -> None:
        self._url, self._watch = url, watch
        self._turn = threading.Lock()
        self._idle: list[psycopg.Connection[Any]] = []

    def read(self, sql: str, *values: Any) -> list[Any]:
        """All rows of a query, as of one moment.

        A connection that was lost while nobody used it is made anew.
        """
        with self._turn:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                return self._rows(connection, sql, values)
            except psycopg.Error:
                if not connection.closed:
                    with self._url.faults():
                        raise
                self.close()  # the others are lost, too
        connection = self._url.connect(**_SETTINGS)
        with self._url.faults():
            return self._rows(connection, sql, values)

    def _rows(
        self, connection: psycopg.Connection[Any], sql: str, values: Sequence[Any]
    ) -> list[Any]:
        try:
            with self._watch.limit(connection, _PATIENCE):
                rows = connection.execute(sql, values, binary=True).fetchall()
        except BaseException:
            if not connection.closed and connection.info.transaction_status:
                connection.close()
            raise
        finally:
            if not connection.closed:
                with self._turn:
                    self._idle.append(connection)
        return rows

    def close(self) -> None:
        """Let go of all connections."""
        with self._turn:
            idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(psycopg.Error):
                connection.close()
