"""Connections of a worker to the store that it shares with others."""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from time import monotonic
from typing import Any

import psycopg

from hierbandits.service.postgres_tables import GROWING, check_tables, migrate
from hierbandits.service.postgres_writer import PATIENCE, WRITING, limit_transactions
from hierbandits.service.socket_watch import SocketWatch
from hierbandits.service.storage import StorageFailed
from hierbandits.service.store_url import StoreUrl

_BY_INDEX = {"enable_seqscan": "off"}
"""Plans are kept: one that reads a small table whole would go on to do so when it is large."""
LONG = 3600.0
"""Seconds that whole logs and policies may take."""
_ANALYZING = 600.0  # seconds that the server may take to look at its tables
BOUND = 10
"""Connections that are in use at once, and half of them at most for whole logs and policies."""
_REST = 10.0  # seconds after which a connection that nobody uses is closed


class SharedLinks:
    """Transactions in any thread, each on a connection that nobody else uses meanwhile.

    StorageFailed if something did not happen, or if the connection was lost and nobody knows.  Who
    finds all connections in use waits for one, but not a thread that has one already: what it has
    would never come back.
    """

    def __init__(self, url: str, bound: int = BOUND, patience: float = PATIENCE) -> None:
        self.url, self._patience = StoreUrl(url), patience
        self._watch = SocketWatch()
        self._turn = threading.Lock()
        self._idle: list[tuple[float, psycopg.Connection[Any]]] = []
        self._free, self._free_long = (threading.Semaphore(n) for n in (bound, max(1, bound // 2)))
        self._is_closed = False
        self._users = Counter[int]()  # connections that each thread has
        try:
            with self.url.connect(**WRITING) as connection, self.url.faults():
                migrate(connection)
        except BaseException:
            self._watch.close()
            raise

    def _new(self) -> psycopg.Connection[Any]:
        connection = self.url.connect(**WRITING | _BY_INDEX)
        try:
            with self._watch.limit(connection, PATIENCE), self.url.faults():
                check_tables(connection)
                limit_transactions(connection)
        except ValueError as error:  # what was asked of this worker is right all the same
            connection.close()
            raise StorageFailed(str(error)) from None
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _use(self, longest: float = PATIENCE) -> Iterator[None]:
        """Have room for a connection, as soon as there is any."""
        thread = threading.get_ident()
        with ExitStack() as stack:
            if not self._users[thread]:
                for free in (self._free_long, self._free) if longest >= LONG else (self._free,):
                    if not free.acquire(timeout=self._patience):
                        raise StorageFailed("all connections of this worker are in use")
                    stack.callback(free.release)
            self._users[thread] += 1
            try:
                yield
            finally:
                self._users[thread] -= 1
                if not self._users[thread]:
                    del self._users[thread]

    def _begun(
        self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()
    ) -> tuple[psycopg.Connection[Any], psycopg.Cursor[Any]]:
        """A connection on which something has begun that may be done twice.

        One that was lost while nobody used it is made anew.
        """
        with self._turn:
            _, connection = self._idle.pop() if self._idle else (0.0, None)
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
        """Keep a connection for the next one; those that nobody has needed for long are closed."""
        with self._turn:
            now, rest = monotonic(), -1.0 if self._is_closed else _REST
            self._idle.append((now, connection))  # and the last one is taken first
            some = [one for one in self._idle if now - one[0] > rest]
            del self._idle[: len(some)]
        _close(some)

    @contextmanager
    def transaction(self, longest: float = PATIENCE) -> Iterator[psycopg.Connection[Any]]:
        """What the block does happens wholly, and is on the server's disk, or not at all.

        It may take `longest` seconds.
        """
        with self._use(longest), self._transaction(longest) as connection:
            yield connection

    @contextmanager
    def _transaction(self, longest: float) -> Iterator[psycopg.Connection[Any]]:
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
        with self._use():
            connection, found = self._begun(sql, values)
            rows = found.fetchall()
            self._give_back(connection)
        return rows

    def is_open(self) -> bool:
        """Whether the store takes what is written; not if it is a copy that follows another one."""
        ((is_closed,),) = self.read("SELECT current_setting('transaction_read_only')::bool")
        if is_closed:
            self._let_go()  # by the next look another one may have taken over
        return not is_closed

    def analyze(self) -> None:
        """Let the server see how large the tables are, so that it finds rows by the right index.

        It looks by itself once a minute.  Until then its plans would be those of small tables, and
        read all rows of a policy to find a few.
        """
        with self.transaction(_ANALYZING) as db:
            look_at_tables(db)

    def _let_go(self) -> None:
        with self._turn:
            idle, self._idle = self._idle, []
        _close(idle)

    def close(self) -> None:
        """Let go of all connections; those that are in use are closed when they are given back."""
        with self._turn:
            self._is_closed = True
        self._let_go()
        self._watch.close()


def look_at_tables(db: psycopg.Connection[Any]) -> None:
    """Let the server see what a transaction has written, too; not if somebody else has it look."""
    db.execute(f"ANALYZE (SKIP_LOCKED) {', '.join(GROWING)}")


def _close(connections: Sequence[tuple[float, psycopg.Connection[Any]]]) -> None:
    for _, connection in connections:
        with suppress(psycopg.Error):
            connection.close()
