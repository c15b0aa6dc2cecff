"""Rows of a ledger in PostgreSQL: a batch becomes one statement for each table."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import psycopg

from hierbandits.service.ledger_head import LedgerHead, by_policy, version_digest
from hierbandits.service.storage import Batch, StorageFailed

_EVENTS = (
    "INSERT INTO events (policy, number, data, checksum) "
    "SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[], %s::bytea[])"
)
_HEADS = (
    "UPDATE heads SET last = new.last, total = new.total "
    "FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) AS new (policy, last, total) "
    "WHERE heads.policy = new.policy"
)
_VERSIONS = (
    "INSERT INTO versions (policy, number, settings, after, created, checksum) SELECT * FROM "
    "unnest(%s::bigint[], %s::bigint[], %s::bytea[], %s::bigint[], %s::float8[], %s::bytea[])"
)
_IDS = (
    "INSERT INTO ids (policy, id, number, place) "
    "SELECT * FROM unnest(%s::bigint[], %s::bytea[], %s::bigint[], %s::bigint[])"
)
_REWARDS = (
    "INSERT INTO rewards (policy, number, place, event) "
    "SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[]) "
    "ON CONFLICT (policy, number, place) DO UPDATE SET event = EXCLUDED.event"
)
_MEASURED = (
    "INSERT INTO measured (policy, number, place, name, event) SELECT * FROM "
    "unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bytea[], %s::bigint[])"
)
_ASSIGNED = (
    "INSERT INTO assigned (policy, task_key, task, arm) "
    "SELECT * FROM unnest(%s::bigint[], %s::bytea[], %s::bytea[], %s::bytea[]) "
    "ON CONFLICT (policy, task_key) DO UPDATE SET arm = EXCLUDED.arm"
)


def columns(rows: Iterable[Sequence[Any]], number: int) -> list[list[Any]]:
    """Rows as columns, also where there are none."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    return columns or [[] for _ in range(number)]


def task_key(task: str) -> bytes:
    """A task as an index has it: names of tasks may be longer than an index takes."""
    return blake2b(task.encode(), digest_size=16).digest()


def locked_heads(db: psycopg.Connection[Any], policies: Sequence[int]) -> dict[int, LedgerHead]:
    """The ends of the ledgers of policies, which nobody else changes now."""
    sql = (
        "SELECT policy, last, total FROM heads WHERE policy = ANY(%s::bigint[]) "
        "ORDER BY policy FOR UPDATE"
    )
    rows = db.execute(sql, (list(policies),), binary=True)
    heads = {policy: LedgerHead.of_row(last, total) for policy, last, total in rows}
    for policy in policies:
        if policy not in heads:
            raise StorageFailed(f"policy {policy} is deleted")
    return heads


def put_heads(db: psycopg.Connection[Any], heads: Mapping[int, LedgerHead]) -> None:
    """Let the ledgers of policies end here."""
    rows = [(policy, head.last, head.total_bytes) for policy, head in heads.items()]
    db.execute(_HEADS, columns(rows, 3))


def put_rows(db: psycopg.Connection[Any], batch: Batch) -> None:
    """Write a batch in a transaction."""
    events, heads = list(by_policy(batch.events)), dict[int, LedgerHead]()
    rows: list[tuple[Any, ...]] = []
    if events:
        heads = locked_heads(db, [policy for policy, _ in events])
        for policy, some in events:
            numbered, heads[policy] = heads[policy].followed(policy, some)
            rows += numbered
    versions = [
        (policy, one.number, one.settings, one.after, one.created, version_digest(policy, one))
        for policy, one in batch.versions
    ]
    ids = [(policy, id.encode(), *place) for policy, id, *place in batch.ids]
    rewards = {row[:3]: row for row in batch.rewards}  # the last of each decision counts
    measured = [(*place, name.encode(), event) for *place, name, event in batch.measures]
    assigned = {
        (policy, task): (policy, task_key(task), task.encode(), arm.encode())
        for policy, task, arm in batch.assigned
    }
    parts = [
        (_HEADS, [(policy, head.last, head.total_bytes) for policy, head in heads.items()]),
        (_EVENTS, rows),
        (_VERSIONS, versions),
        (_IDS, ids),
        (_REWARDS, list(rewards.values())),
        (_MEASURED, measured),
        (_ASSIGNED, list(assigned.values())),
    ]
    written = [(sql, columns(some_rows, 0)) for sql, some_rows in parts if some_rows]
    if written:
        # One statement, and no pipeline: after one, the server does not notice idle transactions.
        steps = ", ".join(f"step{place} AS ({sql})" for place, (sql, _) in enumerate(written))
        db.execute(f"WITH {steps} SELECT 1", [column for _, some in written for column in some])
