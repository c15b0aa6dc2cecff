"""Metrics of decisions that workers share: each is stored once, and then taken in one order."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import psycopg

from hierbandits.service.api_problem import Problem
from hierbandits.service.given_metrics import GivenMetrics, answer_metrics, exposure_of
from hierbandits.service.guardrail import EXPOSURE
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.postgres_rows import columns
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.shared_links import SharedLinks
from hierbandits.service.stored_event import MEASURE
from hierbandits.service.wire import MetricsReply

REWARDED = ""
"""The metric of a decision that has its first reward, and could have been another: it was shown."""
_AT_ONCE = 2_000  # rows that are read at a time
# Who has locked a decision is the only one who measures it, and nobody deletes it meanwhile.
_LOCK = (
    "SELECT id FROM shared_decisions WHERE policy = %s AND id = ANY(%b::bytea[]) "
    "ORDER BY id FOR UPDATE"
)
_KNOWN = "SELECT id, name, value FROM shared_metrics WHERE policy = %s AND id = ANY(%b::bytea[])"
_STORE = (
    "INSERT INTO shared_metrics (policy, id, name, value, at) "
    "SELECT %s, id, name, value, extract(epoch FROM clock_timestamp()) "
    "FROM unnest(%b::bytea[], %b::bytea[], %b::float8[]) AS new (id, name, value) "
    "ON CONFLICT (policy, id, name) DO NOTHING"
)
_NEW = (
    "SELECT given.id, name, value, data FROM shared_metrics AS given "
    "JOIN shared_decisions AS made ON made.policy = given.policy AND made.id = given.id "
    "WHERE given.policy = %s AND number IS NULL ORDER BY given.at, given.id, name LIMIT %s"
)
_NUMBER = (
    "UPDATE shared_metrics SET number = new.number "
    "FROM unnest(%b::bytea[], %b::bytea[], %b::bigint[]) AS new (id, name, number) "
    "WHERE policy = %s AND shared_metrics.id = new.id AND shared_metrics.name = new.name"
)
_TAKEN = (
    "SELECT number, name, value, data FROM shared_metrics AS given "
    "JOIN shared_decisions AS made ON made.policy = given.policy AND made.id = given.id "
    "WHERE given.policy = %s AND number > %s ORDER BY number"
)
_OF_A_TASK = (
    "DELETE FROM shared_metrics USING shared_decisions AS made "
    "WHERE made.policy = %s AND made.task_key = %s "
    "AND shared_metrics.policy = made.policy AND shared_metrics.id = made.id"
)
_LOST = (
    "SELECT count(*) FROM shared_metrics AS given WHERE policy = %s AND NOT EXISTS "
    "(SELECT FROM shared_decisions AS made WHERE made.policy = given.policy AND made.id = given.id)"
)


class SharedMetrics:
    """Keeps metrics of one policy, exactly once, whichever worker is told."""

    def __init__(self, policy: int, links: SharedLinks) -> None:
        self._policy, self._links = policy, links

    def measure(
        self, given: GivenMetrics, settings: PolicySettings
    ) -> list[MetricsReply | Problem]:
        """Take metrics in one transaction; for each decision what it is told."""
        wanted = self._policy, [id.encode() for id in {id for id, _ in given}]
        with self._links.transaction() as db:
            made = {id.decode() for (id,) in db.execute(_LOCK, wanted, binary=True).fetchall()}
            found = db.execute(_KNOWN, wanted, binary=True).fetchall()
            known = {(id.decode(), name.decode()): value for id, name, value in found}
            outcomes, rows = answer_metrics(given, made, known, settings)
            if rows:
                put_metrics(db, self._policy, rows)
        return outcomes


def put_metrics(
    db: psycopg.Connection[Any], policy: int, rows: Sequence[tuple[str, str, float]]
) -> None:
    """Store metrics: the id of a decision, the name, and the value; those that are there stay."""
    some = [(id.encode(), name.encode(), value) for id, name, value in rows]
    db.execute(_STORE, (policy, *columns(some, 3)))


def new_metrics(db: psycopg.Connection[Any], policy: int, most: int) -> list[Any]:
    """Metrics that no rollout has taken yet: id, name, value, and what is stored of the decision.

    Nobody must fold the policy meanwhile.
    """
    return db.execute(_NEW, (policy, most), binary=True).fetchall()


def number_metrics(
    db: psycopg.Connection[Any], policy: int, rows: Sequence[tuple[bytes, bytes, int]]
) -> None:
    """Let a rollout have taken metrics, by id and name, in the order of these numbers."""
    db.execute(_NUMBER, (*columns(rows, 3), policy))


def taken_metrics(db: psycopg.Connection[Any], policy: int, after: int) -> Iterator[Any]:
    """Metrics in the order in which they were taken: number, name, value, and the decision."""
    with db.cursor("metrics", binary=True) as rows:
        rows.itersize = _AT_ONCE
        yield from rows.execute(_TAKEN, (policy, after))


def forget_metrics(db: psycopg.Connection[Any], policy: int, key: bytes) -> int:
    """Delete the metrics of a task, whose decisions are there still, and nobody measures them now.

    How many there were.
    """
    db.execute(
        "SELECT FROM shared_decisions WHERE policy = %s AND task_key = %s ORDER BY id FOR UPDATE",
        (policy, key),
    )
    return db.execute(_OF_A_TASK, (policy, key)).rowcount


def lost_metrics(db: psycopg.Connection[Any], policy: int) -> int:
    """How many metrics are of no decision."""
    ((number,),) = db.execute(_LOST, (policy,)).fetchall()
    return int(number)


def apply_metric(state: RolloutState, number: int, name: bytes, value: float, data: bytes) -> None:
    """Let a rollout take a metric of a decision."""
    parts, text = msgspec.json.decode(data), name.decode()
    if text == REWARDED:
        if state.exposed_by == "rewards":
            state.apply(number, {"kind": "reward", "shown": [exposure_of(parts)]})
        return
    side = state.side(parts.get("group", "policy"), parts["policy_version"])
    shown = exposure_of(parts) if text == EXPOSURE else None
    event = {"names": [text], "values": [value], "groups": [side], "shown": [shown]}
    state.apply(number, {"kind": MEASURE} | event)
