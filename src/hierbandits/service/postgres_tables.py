"""The tables of a ledger in PostgreSQL, and how older ones become these."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import sleep
from typing import Any

import psycopg

from hierbandits.service.store_url import SCHEMA

_MIGRATING = 0x68626E64, 2  # the advisory lock of whoever changes tables
_TRIES, _PATIENCE = 30, "2s"


@dataclass(frozen=True, slots=True)
class Migration:
    """One step forward; there is none back.

    It only adds, so that programs that know the tables of `oldest` or later go on while it runs
    and after it.  Programs name the columns that they read and write.  `indexes`, each by its name,
    are made before the step, while others write: their tables may be large.
    """

    number: int
    oldest: int
    sql: str
    indexes: Mapping[str, str] = field(default_factory=dict)


MIGRATIONS = (
    Migration(
        1,
        1,
        """
        CREATE TABLE owner (only_one boolean PRIMARY KEY CHECK (only_one), mark text NOT NULL);
        CREATE TABLE policies (
            id bigint PRIMARY KEY, name text NOT NULL UNIQUE, salt bytea NOT NULL,
            created double precision NOT NULL
        );
        CREATE TABLE versions (
            policy bigint NOT NULL, number bigint NOT NULL, settings bytea NOT NULL,
            after bigint NOT NULL, created double precision NOT NULL, checksum bytea NOT NULL,
            PRIMARY KEY (policy, number)
        );
        CREATE TABLE heads (policy bigint PRIMARY KEY, last bigint NOT NULL, total bytea NOT NULL)
            WITH (fillfactor = 50);
        CREATE TABLE events (
            policy bigint NOT NULL, number bigint NOT NULL, data bytea NOT NULL,
            checksum bytea NOT NULL, PRIMARY KEY (policy, number)
        );
        CREATE TABLE ids (
            policy bigint NOT NULL, id bytea NOT NULL, number bigint NOT NULL,
            place bigint NOT NULL, PRIMARY KEY (policy, id)
        );
        CREATE TABLE rewards (
            policy bigint NOT NULL, number bigint NOT NULL, place bigint NOT NULL,
            event bigint NOT NULL, PRIMARY KEY (policy, number, place)
        );
        CREATE TABLE measured (
            policy bigint NOT NULL, number bigint NOT NULL, place bigint NOT NULL,
            name bytea NOT NULL, event bigint NOT NULL, PRIMARY KEY (policy, number, place, name)
        );
        CREATE TABLE assigned (
            policy bigint NOT NULL, task_key bytea NOT NULL, task bytea NOT NULL,
            arm bytea NOT NULL, PRIMARY KEY (policy, task_key)
        );
        CREATE TABLE documents (
            name text PRIMARY KEY, data bytea NOT NULL, change bigint NOT NULL
        );
        """,
    ),
    Migration(
        2,
        1,
        """
        CREATE TABLE shared_policies (
            id bigint PRIMARY KEY, name text NOT NULL UNIQUE, salt bytea NOT NULL,
            created double precision NOT NULL
        );
        CREATE TABLE shared_versions (
            policy bigint NOT NULL, number bigint NOT NULL, settings bytea NOT NULL,
            created double precision NOT NULL, PRIMARY KEY (policy, number)
        );
        CREATE TABLE shared_decisions (
            policy bigint NOT NULL, id bytea NOT NULL, task_key bytea NOT NULL,
            data bytea NOT NULL, at double precision NOT NULL, PRIMARY KEY (policy, id)
        );
        CREATE INDEX shared_decisions_of_tasks ON shared_decisions (policy, task_key);
        CREATE TABLE shared_rewards (
            policy bigint NOT NULL, id bytea NOT NULL, value double precision NOT NULL,
            at double precision NOT NULL, PRIMARY KEY (policy, id)
        );
        CREATE TABLE shared_tasks (
            policy bigint NOT NULL, task_key bytea NOT NULL, task bytea NOT NULL,
            sums bytea, folded bytea, revision bigint NOT NULL DEFAULT 0,
            dirty boolean NOT NULL DEFAULT false, created double precision NOT NULL,
            PRIMARY KEY (policy, task_key)
        ) WITH (fillfactor = 60);
        ALTER TABLE shared_tasks ALTER sums SET STORAGE EXTERNAL,
            ALTER folded SET STORAGE EXTERNAL;
        CREATE INDEX shared_tasks_to_fold ON shared_tasks (policy, task_key) WHERE dirty;
        CREATE TABLE shared_generations (
            policy bigint NOT NULL, number bigint NOT NULL, version bigint NOT NULL,
            hierarchy bytea NOT NULL, told bytea NOT NULL, rewards bigint NOT NULL,
            due bigint, age integer NOT NULL,
            made double precision NOT NULL DEFAULT extract(epoch FROM clock_timestamp()),
            PRIMARY KEY (policy, number)
        );
        """,
    ),
    Migration(
        3,
        1,
        """
        ALTER TABLE shared_rewards ADD COLUMN site_precision double precision,
            ADD COLUMN site_weighted double precision;
        """,
    ),
    Migration(
        4,
        1,
        """
        CREATE TABLE shared_evaluations (
            policy bigint NOT NULL, id text NOT NULL, reply bytea NOT NULL,
            is_running boolean NOT NULL, started double precision NOT NULL,
            heard double precision NOT NULL DEFAULT extract(epoch FROM clock_timestamp()),
            PRIMARY KEY (policy, id)
        );
        """,
    ),
    Migration(
        5,
        1,
        """
        CREATE TABLE shared_histories (
            policy bigint PRIMARY KEY, forgotten bigint NOT NULL DEFAULT 0,
            number bigint NOT NULL DEFAULT 0, made double precision, given double precision,
            state bytea
        );
        """,
        {
            "shared_decisions_by_time": "shared_decisions (policy, at)",
            "shared_rewards_by_time": "shared_rewards (policy, at)",
            "shared_tasks_by_age": "shared_tasks (policy, created, task_key)",
        },
    ),
    Migration(
        6,
        1,
        """
        ALTER TABLE shared_rewards ADD COLUMN provisional boolean NOT NULL DEFAULT false;
        CREATE TABLE shared_waits (
            policy bigint PRIMARY KEY, at double precision NOT NULL, id bytea NOT NULL
        );
        """,
    ),
    Migration(
        7,
        1,
        """
        CREATE TABLE shared_changes (
            policy bigint NOT NULL, number bigint NOT NULL, data bytea NOT NULL,
            PRIMARY KEY (policy, number)
        );
        CREATE TABLE shared_rollouts (
            policy bigint PRIMARY KEY, number bigint NOT NULL, changed bigint NOT NULL,
            ramp bytea NOT NULL, next_step double precision, state bytea NOT NULL
        );
        CREATE TABLE shared_metrics (
            policy bigint NOT NULL, id bytea NOT NULL, name bytea NOT NULL,
            value double precision NOT NULL, at double precision NOT NULL, number bigint,
            PRIMARY KEY (policy, id, name)
        );
        CREATE INDEX shared_metrics_to_take ON shared_metrics (policy, at, id, name)
            WHERE number IS NULL;
        CREATE INDEX shared_metrics_taken ON shared_metrics (policy, number)
            WHERE number IS NOT NULL;
        """,
    ),
)
"""All steps in their order.  What a step has been is never changed."""

OF_A_POLICY = ("versions", "heads", "events", "ids", "rewards", "measured", "assigned")
OF_A_SHARED_POLICY = (
    "shared_waits", "shared_generations", "shared_versions", "shared_rewards", "shared_decisions",
    "shared_tasks", "shared_evaluations", "shared_histories",
    "shared_changes", "shared_rollouts", "shared_metrics",
)  # fmt: skip
STILL_KNOWN = "EXISTS (SELECT FROM shared_policies WHERE id = %s FOR KEY SHARE)"
"""What a statement asks first that reads or writes for a policy that may be deleted meanwhile.

Whoever deletes it waits until the transaction ends; who comes later finds no policy, and must write
nothing.  This lock is taken before any other of a row.
"""
GROWING = ("shared_decisions", "shared_rewards", "shared_tasks")
"""The tables of shared policies that have many rows."""


def migrate(
    connection: psycopg.Connection[Any], migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Bring the tables up to date, each step wholly or not at all, one program at a time.

    A step that cannot have its table soon lets others go first, and tries again: nobody who works
    with the tables waits for it for long.
    """
    while not _has_lock(connection):  # who waits in the server would keep indexes from being made
        sleep(0.1)
    try:
        with connection.transaction():
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, "
                "oldest integer NOT NULL, at timestamptz NOT NULL DEFAULT now())"
            )
        found = check_tables(connection, migrations)
        for step in migrations:
            if step.number > found:
                _take(connection, step)
    finally:
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(%s, %s)", _MIGRATING)


def check_tables(
    connection: psycopg.Connection[Any], migrations: Sequence[Migration] = MIGRATIONS
) -> int:
    """The last step that was taken; ValueError if this program is too old for it."""
    known = migrations[-1].number
    row = connection.execute(
        "SELECT coalesce(max(number), 0), coalesce(max(oldest), 0) FROM migrations"
    ).fetchone()
    assert row is not None
    found, oldest = row
    if oldest > known:
        raise ValueError(
            f"store must have tables for programs that know step {known} or older ones, got step "
            f"{found}, for which a program must know step {oldest}: use a newer hierbandits"
        )
    return int(found)


def _has_lock(connection: psycopg.Connection[Any]) -> bool:
    row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", _MIGRATING).fetchone()
    return row == (True,)


def _make_index(connection: psycopg.Connection[Any], name: str, place: str) -> None:
    """Make an index while others write; one that was left half made is made anew.

    It waits until transactions have ended that began before it.
    """
    found = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    if connection.execute(found, (name,)).fetchone() == (True,):
        return
    connection.execute("SET lock_timeout = 0")
    connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
    connection.execute(f"CREATE INDEX CONCURRENTLY {name} ON {place}")
    connection.execute("RESET lock_timeout")


def _take(connection: psycopg.Connection[Any], step: Migration) -> None:
    for index in step.indexes.items():
        _make_index(connection, *index)
    for left in reversed(range(_TRIES)):
        try:
            with connection.transaction():
                connection.execute(f"SET LOCAL lock_timeout = '{_PATIENCE}'")
                connection.execute(step.sql)
                connection.execute(
                    "INSERT INTO migrations (number, oldest) VALUES (%s, %s)",
                    (step.number, step.oldest),
                )
            return
        except psycopg.errors.LockNotAvailable:
            if not left:
                raise
            sleep(0.2)
