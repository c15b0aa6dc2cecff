"""Tokens in a PostgreSQL database: all workers see the same ones."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hierbandits.service.postgres_readers import PostgresReaders
from hierbandits.service.postgres_tables import migrate
from hierbandits.service.socket_watch import SocketWatch
from hierbandits.service.store_url import StoreUrl
from hierbandits.service.token_book import Mark

_NAME = "tokens"
_PATIENCE = 20.0


class TokenTable:
    """A `TokenPlace`: a row of the database, which any program may change."""

    def __init__(self, url: str) -> None:
        self._url, self._watch = StoreUrl(url), SocketWatch()
        self._readers = PostgresReaders(self._url, self._watch)
        self._has_tables = False

    def __str__(self) -> str:
        return f"the tokens of {self._url}"

    def mark(self) -> Mark:
        """How often the tokens have changed."""
        if not self._has_tables:  # a program that makes the first token may be the first of all
            found = self._readers.read("SELECT to_regclass('documents') IS NOT NULL")
            self._has_tables = found[0][0]
            if not self._has_tables:
                return None
        rows = self._readers.read("SELECT change FROM documents WHERE name = %s", _NAME)
        return (rows[0][0], 0) if rows else None

    def read(self) -> bytes:
        """All of it."""
        ((data,),) = self._readers.read("SELECT data FROM documents WHERE name = %s", _NAME)
        return bytes(data)

    @contextmanager
    def changing(self) -> Iterator[Callable[[bytes], object]]:
        """Change the tokens, one program at a time."""
        with self._url.connect() as db, self._watch.limit(db, _PATIENCE), self._url.faults():
            migrate(db)
            with db.transaction():
                db.execute("LOCK TABLE documents IN SHARE ROW EXCLUSIVE MODE")
                yield lambda data: db.execute(
                    "INSERT INTO documents (name, data, change) VALUES (%s, %s, 1) ON CONFLICT "
                    "(name) DO UPDATE SET data = EXCLUDED.data, change = documents.change + 1",
                    (_NAME, data),
                )

    def close(self) -> None:
        """Let go of the database."""
        self._readers.close()
        self._watch.close()
