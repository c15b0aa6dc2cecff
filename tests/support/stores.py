"""The two kinds of storage, under one hand for the tests of their contract."""

import psycopg

from hierbandits.service.postgres_storage import PostgresStorage
from hierbandits.service.sqlite_storage import SqliteStorage
from hierbandits.service.store_url import SCHEMA

KINDS = ("sqlite", "postgres")


class SqliteStore:
    def __init__(self, folder):
        self._path = folder / "ledger.db"
        self._opened = []

    def open(self, *, read_only=False):
        self._opened.append(SqliteStorage(self._path, read_only=read_only))
        return self._opened[-1]

    def alter(self, sql, *values):
        """Change the tables behind the back of the checksums of events."""
        with self._opened[0]._file.writing() as db:
            db.execute(sql, values)

    def close(self):
        for storage in self._opened:
            storage.close()


class PostgresStore:
    def __init__(self, url):
        self.url = url
        self._opened = []

    def open(self, **options):
        self._opened.append(PostgresStorage(self.url, **options))
        return self._opened[-1]

    def alter(self, sql, *values):
        """Change the tables behind the back of the checksums of events."""
        with psycopg.connect(self.url, options=f"-c search_path={SCHEMA}") as db:
            db.execute(sql.replace("?", "%s"), values)

    def close(self):
        for storage in self._opened:
            storage.close()


def put(storage, policy, *events, **parts):
    """Commit events of a policy, with what finds them."""
    from hierbandits.service.storage import Batch

    first = storage.last(policy) + 1
    rows = [(policy, first + i, data) for i, data in enumerate(events)]
    storage.commit(Batch(events=rows, **parts))


class Change:
    """A rewriting by a function."""

    def __init__(self, change, ids=(), places=(), task='"t"'):
        self._change, self.ids, self.places, self.task = change, list(ids), list(places), task

    def __call__(self, data):
        return self._change(data)
