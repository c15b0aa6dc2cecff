"""Moments at which transactions of workers wait, in the database itself, for as long as we like."""

import time
from contextlib import contextmanager

import psycopg

from hierbandits.service.store_url import SCHEMA

_CLASS = 0x7E57  # half of the advisory locks that stand for moments
MOMENTS = {
    "a version is written": (1, "shared_versions", "IMMEDIATE"),
    "a version is committed": (2, "shared_versions", "DEFERRED"),
    "a generation is written": (3, "shared_generations", "IMMEDIATE"),
    "a decision is written": (4, "shared_decisions", "IMMEDIATE"),
    "a rollout is changed": (5, "shared_changes", "IMMEDIATE"),
    "a change of a rollout is committed": (6, "shared_changes", "DEFERRED"),
}
"""At the end of an INSERT, or of the COMMIT after it."""
_MAKE = """
CREATE FUNCTION wait_here() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock_shared({cls}, TG_ARGV[0]::int); RETURN NULL; END $$
"""
_TRIGGER = """
CREATE CONSTRAINT TRIGGER wait_{number} AFTER INSERT ON {table} DEFERRABLE INITIALLY {when}
FOR EACH ROW EXECUTE FUNCTION wait_here({number})
"""
_WAITING = (
    "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) "
    "WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND NOT granted "
    "AND datname = current_database()"
)


class HeldMoments:
    """Triggers in a database that has tables: whoever comes to a moment that is held waits there.

    Nobody waits otherwise.
    """

    def __init__(self, url):
        self._url = url
        with self._connected() as db:
            db.execute(_MAKE.format(cls=_CLASS))
            for number, table, when in MOMENTS.values():
                db.execute(_TRIGGER.format(number=number, table=table, when=when))

    def _connected(self):
        return psycopg.connect(self._url, autocommit=True, options=f"-c search_path={SCHEMA}")

    @contextmanager
    def hold(self, moment):
        """Let sessions wait at a moment; gives a function that waits for the first of them."""
        number = MOMENTS[moment][0]
        with self._connected() as db:
            db.execute("SELECT pg_advisory_lock(%s, %s)", (_CLASS, number))

            def first(seconds=30.0):
                """The name of the application of a session that waits here."""
                end = time.monotonic() + seconds
                while time.monotonic() < end:
                    found = db.execute(_WAITING, (_CLASS, number)).fetchone()
                    if found is not None:
                        return found[0]
                    time.sleep(0.002)
                raise AssertionError(f"nobody waits when {moment}")

            yield first

    def wait_until_gone(self, application):
        """Wait until no session has this name, and all that they had begun is settled."""
        end = time.monotonic() + 30
        sql = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name = %s"
        )
        with self._connected() as db:
            while db.execute(sql, (application,)).fetchone()[0]:
                assert time.monotonic() < end, "a session of a process that is dead goes on"
                time.sleep(0.01)
