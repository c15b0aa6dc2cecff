"""The rows of a shared policy's tasks: sums of rewards, and what of them is folded."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import psycopg

from hierbandits.models.model import Model
from hierbandits.service.postgres_rows import columns
from hierbandits.service.shared_generation import SharedGeneration
from hierbandits.service.shared_model import family_of
from hierbandits.service.shared_sums import SharedSums

_AT_ONCE = 2_000  # rows that are read at a time
_NEW = (
    "INSERT INTO shared_tasks (policy, task_key, task, created) SELECT %s, task_key, task, %s "
    "FROM unnest(%b::bytea[], %b::bytea[]) AS new (task_key, task) ORDER BY task_key "
    "ON CONFLICT (policy, task_key) DO NOTHING"
)
# One statement, and so one moment: what is folded of tasks is in the generation that comes along.
_NOW = (
    "SELECT NULL::bytea, NULL::bytea, NULL::bytea, changed, ramp, now.number, version, "
    "CASE WHEN now.number > %s THEN hierarchy END, CASE WHEN now.number > %s THEN told END, "
    "rewards, due, age FROM shared_generations AS now LEFT JOIN shared_rollouts AS rollout "
    "ON rollout.policy = now.policy AND changed > %s WHERE now.policy = %s AND now.number = "
    "(SELECT max(number) FROM shared_generations WHERE policy = %s) "
    "UNION ALL SELECT task_key, sums, folded, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL "
    "FROM shared_tasks WHERE policy = %s AND task_key = ANY(%b::bytea[])"
)
_LOCK = (
    "SELECT task_key, sums FROM shared_tasks WHERE policy = %s AND task_key = ANY(%b::bytea[]) "
    "ORDER BY task_key FOR UPDATE"
)
_LEARN = (
    "UPDATE shared_tasks SET sums = new.sums, revision = revision + 1, dirty = true "
    "FROM unnest(%b::bytea[], %b::bytea[]) AS new (task_key, sums) "
    "WHERE policy = %s AND shared_tasks.task_key = new.task_key"
)


class TaskRow(NamedTuple):
    """A task's sums, and what of them is folded; None before there is anything."""

    sums: bytes | None
    folded: bytes | None


class PolicyNow(NamedTuple):
    """The newest generation of a policy and rows of tasks, as of one moment."""

    generation: SharedGeneration | None
    """None if the policy is deleted."""
    tasks: dict[bytes, TaskRow]
    changed: int | None = None
    """The number of the last change of the rollout, if that is new, and its ramp since then."""
    ramp: bytes | None = None


class SharedTasks:
    """The tasks of one policy, whose model says how long a row of numbers is."""

    def __init__(self, policy: int, model: Model) -> None:
        self._policy = policy
        self._dim, self._armed = model.dim, model.is_armed
        self.family = family_of(model)

    def sums(self, rows: Iterable[bytes | None]) -> SharedSums:
        """Sums as they are added to, a row for each task."""
        has_sites = self.family is not None
        return SharedSums(rows, self._dim, armed=self._armed, has_sites=has_sites)

    def meet(self, db: psycopg.Connection[Any], tasks: dict[bytes, bytes], now: float) -> None:
        """Let there be a row for each of these tasks, names by their keys."""
        db.execute(_NEW, (self._policy, now, list(tasks), list(tasks.values())))

    def locked(
        self, db: psycopg.Connection[Any], keys: Iterable[bytes]
    ) -> dict[bytes, bytes | None]:
        """The sums of tasks, which nobody else changes until the transaction ends.

        All who lock several do it in the order of their keys, so that nobody waits in a circle.
        """
        return dict(db.execute(_LOCK, (self._policy, list(keys)), binary=True).fetchall())

    def locked_all(self, db: psycopg.Connection[Any]) -> dict[bytes, bytes]:
        """The sums of all tasks that have learned, which nobody else changes until then either."""
        sql = (
            "SELECT task_key, sums FROM shared_tasks WHERE policy = %s AND sums IS NOT NULL "
            "ORDER BY task_key FOR UPDATE"
        )
        return dict(db.execute(sql, (self._policy,), binary=True).fetchall())

    def learn(self, db: psycopg.Connection[Any], keys: Sequence[bytes], sums: SharedSums) -> None:
        """Let tasks, which are locked, have these sums."""
        rows = [(key, sums.row(place)) for place, key in enumerate(keys)]
        db.execute(_LEARN, (*columns(rows, 2), self._policy))

    def dirty(
        self, db: psycopg.Connection[Any], most: int
    ) -> list[tuple[bytes, bytes, bytes | None, int]]:
        """Tasks whose sums are not folded: key, sums, what is folded, and the revision."""
        sql = (
            "SELECT task_key, sums, folded, revision FROM shared_tasks "
            "WHERE policy = %s AND dirty ORDER BY task_key LIMIT %s"
        )
        return db.execute(sql, (self._policy, most), binary=True).fetchall()

    def fold(
        self, db: psycopg.Connection[Any], rows: Sequence[tuple[bytes, bytes, bytes | None, int]]
    ) -> None:
        """Let what `dirty` gave be folded; tasks that have learned since stay dirty."""
        keys, sums, _, revisions = columns(rows, 4)
        self.locked(db, keys)
        db.execute(
            "UPDATE shared_tasks SET folded = new.sums, "
            "dirty = shared_tasks.revision <> new.revision "
            "FROM unnest(%b::bytea[], %b::bytea[], %b::bigint[]) AS new (task_key, sums, revision) "
            "WHERE policy = %s AND shared_tasks.task_key = new.task_key",
            (keys, sums, revisions, self._policy),
        )

    def fold_all(
        self, db: psycopg.Connection[Any], keys: Sequence[bytes], sums: SharedSums
    ) -> None:
        """Let tasks, which are locked, have these sums, and all of them be folded."""
        rows = [(key, sums.row(place)) for place, key in enumerate(keys)]
        db.execute(
            "UPDATE shared_tasks SET sums = new.sums, folded = new.sums, dirty = false, "
            "revision = revision + 1 FROM unnest(%b::bytea[], %b::bytea[]) AS new (task_key, sums) "
            "WHERE policy = %s AND shared_tasks.task_key = new.task_key",
            (*columns(rows, 2), self._policy),
        )

    def all_folded(self, db: psycopg.Connection[Any]) -> Iterator[list[tuple[bytes, bytes | None]]]:
        """What is folded of all tasks, some at a time."""
        sql = (
            "SELECT task_key, folded FROM shared_tasks WHERE policy = %s AND task_key > %s "
            f"ORDER BY task_key LIMIT {_AT_ONCE}"
        )
        last = b""
        while rows := db.execute(sql, (self._policy, last), binary=True).fetchall():
            yield rows
            last = rows[-1][0]


def tasks_now(
    read: Callable[[str, Sequence[Any]], list[Any]],
    policy: int,
    keys: Sequence[bytes],
    known: SharedGeneration | None,
    changed: int = 0,
) -> PolicyNow:
    """Tasks of a policy now, and its newest generation, which may be the known one.

    Its ramp comes along if the rollout was changed after `changed`.  `read` gives the rows of a
    query.
    """
    now, rows, number = PolicyNow(None, {}), {}, 0 if known is None else known.number
    values = (number, number, changed, policy, policy, policy, list(keys))
    for key, sums, folded, changed, ramp, *parts in read(_NOW, values):
        if key is not None:
            rows[key] = TaskRow(sums, folded)
        else:
            newest = known if parts[0] == number else SharedGeneration.from_row(*parts)
            now = PolicyNow(newest, rows, changed, ramp)
    return now
