"""Folds what tasks of a shared policy have learned into its next generation."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import psycopg

from hierbandits.beliefs.absent_tasks import AbsentTasks
from hierbandits.beliefs.adaptive_belief import rewards_due_after
from hierbandits.beliefs.contribution import Contribution
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.beliefs.width_refit import WidthRefit, most_rewarded
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.service.api_problem import not_found
from hierbandits.service.shared_generation import SharedGeneration
from hierbandits.service.shared_links import SharedLinks
from hierbandits.service.shared_model import SharedModel
from hierbandits.service.shared_tasks import SharedTasks
from hierbandits.service.shared_version import SharedVersion

AT_ONCE = 5_000
"""Tasks that one generation folds at most."""
LIFETIME = 1_000
"""Generations after which all tasks are added up anew, so that rounding does not grow."""
_LONGEST = 600.0
"""Seconds after which a fold is given up: its worker may be cut off, and nobody else can fold."""
_KEPT = 100  # generations, for people who look
_FOLDING = 0x68626E65  # half of the advisory lock of whoever folds a policy
_COLUMNS = "number, version, hierarchy, told, rewards, due, age"


class SharedFolder:
    """Makes generations of one policy; whoever has the policy's advisory lock does.

    The lock belongs to a transaction.  So who dies while folding leaves the older generation, and
    the lock is free.  Other workers go on meanwhile: rows of tasks are locked at the end alone.
    """

    def __init__(
        self,
        policy: int,
        model: SharedModel,
        links: SharedLinks,
        version: int = 1,  # of the settings that the model is from
    ) -> None:
        self._policy, self._links = policy, links
        self._believe(model, version)
        self.rewards = 0  # in the newest generation that `fold` has seen or made

    def _believe(self, model: SharedModel, version: int) -> None:
        self._model, self._version = model, version
        self._tasks = SharedTasks(self._policy, model)

    def first(self) -> SharedGeneration:
        """The generation before any reward; a ValueError if none can be made."""
        model, due = self._model, None
        if isinstance(model, UnknownWidths):
            model, due = model.hierarchy(), 1
        if isinstance(model, GeneralizedHierarchy):
            model = model.hierarchy  # of which sites are Gaussian rewards
        absent = AbsentTasks.of(model)
        absent.told_by(TaskSums.zeros(1, model.dim, armed=model.is_armed))
        return SharedGeneration(1, self._version, model, absent.nothing(), 0, due, 0)

    def fold(self, refresh: float = 0.0, growth: float = 0.0) -> int:
        """Fold tasks that have learned; how many, AT_ONCE at most.

        0 if somebody else folds now, and also if the newest generation was made less than `refresh`
        seconds ago, and rewards have grown by less than the share `growth` since.
        """
        with self._links.transaction(_LONGEST) as db:
            if not self._has_lock(db, waits=False):
                return 0
            (now, seconds), dirty = newest(db, self._policy), self._tasks.dirty(db, AT_ONCE)
            self.rewards = 0 if now is None else now.rewards
            if now is None or not dirty:
                return 0
            self._follow(db, now.version)
            rewards = now.rewards + self._number(dirty)
            if seconds < refresh and rewards - now.rewards <= growth * now.rewards:
                return 0
            if now.age + 1 >= LIFETIME or (now.due is not None and rewards >= now.due):
                generation = self._anew(db, now, dirty, rewards)
            else:
                absent = AbsentTasks.of(now.hierarchy)
                more, less = (absent.told_by(self._sums(row[i] for row in dirty)) for i in (1, 2))
                told = Contribution(
                    now.told.precision + more.precision - less.precision,
                    now.told.weighted + more.weighted - less.weighted,
                )
                generation = replace(
                    now, number=now.number + 1, told=told, rewards=rewards, age=now.age + 1
                )
            self._tasks.fold(db, dirty)
            self.put(db, generation)
        self.rewards = rewards
        return len(dirty)

    def _follow(self, db: psycopg.Connection[Any], version: int) -> None:
        """Believe what the settings of a version say; another worker may have made it."""
        if version != self._version:
            made = version_of(db, self._policy, version)
            assert made is not None  # its generation is there
            self._believe(made.model(), version)

    def _anew(
        self, db: psycopg.Connection[Any], now: SharedGeneration, dirty: Sequence[Any], rewards: int
    ) -> SharedGeneration:
        """The next generation from the rows of all tasks; widths are fitted if that is due."""
        newer = {key: sums for key, sums, *_ in dirty}
        hierarchy, due = now.hierarchy, now.due
        if isinstance(self._model, UnknownWidths) and due is not None and rewards >= due:
            before = now.hierarchy if due > 1 else None
            refit = WidthRefit(self._model, self._most_rewarded(db, newer), before)
            refit.advance()
            hierarchy, due = refit.hierarchy(), int(rewards_due_after(np.array([rewards]))[0])
        told = self._told_by_all(db, hierarchy, newer)
        return SharedGeneration(now.number + 1, now.version, hierarchy, told, rewards, due, 0)

    def _told_by_all(
        self, db: psycopg.Connection[Any], hierarchy: GaussianHierarchy, newer: dict[bytes, bytes]
    ) -> Contribution:
        absent = AbsentTasks.of(hierarchy)
        told = absent.nothing()
        for sums in self._all(db, newer):
            part = absent.told_by(sums)
            told = Contribution(told.precision + part.precision, told.weighted + part.weighted)
        return told

    def _most_rewarded(self, db: psycopg.Connection[Any], newer: dict[bytes, bytes]) -> TaskSums:
        """The sums of the tasks whose widths are looked at."""
        assert isinstance(self._model, UnknownWidths)
        some = self._sums([])
        for sums in self._all(db, newer):
            parts = zip(some.state().values(), sums.state().values(), strict=True)
            some = TaskSums(*(np.concatenate(both) for both in parts))
            some = some.rows(most_rewarded(some.n, self._model))
        return some

    def _all(self, db: psycopg.Connection[Any], newer: dict[bytes, bytes]) -> Iterator[TaskSums]:
        """The sums of all tasks that have learned, as they are folded then."""
        for rows in self._tasks.all_folded(db):
            sums = self._sums(newer.get(key, folded) for key, folded in rows)
            yield sums.rows(np.flatnonzero(sums.n > 0))

    def _sums(self, rows: Any) -> TaskSums:
        return self._tasks.sums(rows).known()

    def _number(self, dirty: Sequence[Any]) -> int:
        """How many rewards are new in tasks."""
        columns = zip(*(row[1:3] for row in dirty), strict=True)
        new, old = (float(self._sums(column).n.sum()) for column in columns)
        return round(new - old)

    def change_version(self, change: Callable[[SharedVersion], SharedVersion]) -> SharedGeneration:
        """Let a version follow the newest one, in one transaction, and nobody folds meanwhile.

        All tasks tell under the new model, unless it is the old one: then only arms were retired.
        """
        with self.folding() as (db, now):
            old = version_of(db, self._policy, now.version)
            assert old is not None  # its generation is there
            new = change(old)
            number = now.version + 1
            put_version(db, self._policy, number, new)
            self._follow(db, number)
            if new.settings == old.settings and new.model().dim == now.hierarchy.dim:
                generation = replace(now, number=now.number + 1, version=number, age=now.age + 1)
            else:
                start = replace(self.first(), number=now.number)
                generation = self._anew(db, start, (), now.rewards)
            self.put(db, generation)
        return generation

    def forget(self, key: bytes) -> int | None:
        """Delete a task, its decisions and its rewards; how many decisions, None if unknown."""
        with self.folding() as (db, now):
            of_it = self._policy, key
            self._tasks.locked(db, [key])
            row = db.execute(
                "DELETE FROM shared_tasks WHERE policy = %s AND task_key = %s RETURNING folded",
                of_it, binary=True,
            ).fetchone()  # fmt: skip
            if row is None:
                return None
            db.execute(
                "DELETE FROM shared_rewards USING shared_decisions AS made "
                "WHERE made.policy = %s AND made.task_key = %s "
                "AND shared_rewards.policy = made.policy AND shared_rewards.id = made.id",
                of_it,
            )
            sql = "DELETE FROM shared_decisions WHERE policy = %s AND task_key = %s"
            number = db.execute(sql, of_it).rowcount
            gone = int(self._sums([row[0]]).n.sum())
            left = replace(now, due=None)  # widths stay as they are
            generation = self._anew(db, left, (), now.rewards - gone)
            self.put(db, replace(generation, due=now.due))
        return number

    @contextmanager
    def folding(self) -> Iterator[tuple[psycopg.Connection[Any], SharedGeneration]]:
        """A transaction in which nobody else folds, and the newest generation."""
        with self._links.transaction(_LONGEST) as db:
            self._has_lock(db, waits=True)
            now, _ = newest(db, self._policy)
            if now is None:
                raise not_found("policy", "deleted")
            self._follow(db, now.version)
            yield db, now

    def _has_lock(self, db: psycopg.Connection[Any], *, waits: bool) -> bool:
        half = (self._policy ^ (self._policy >> 32)) & 0x7FFFFFFF
        if waits:
            db.execute("SELECT pg_advisory_xact_lock(%s, %s)", (_FOLDING, half))
            return True
        row = db.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", (_FOLDING, half)).fetchone()
        return row is not None and bool(row[0])

    def put(self, db: psycopg.Connection[Any], generation: SharedGeneration) -> None:
        """Let there be one more generation; those that are long over go."""
        db.execute(
            f"INSERT INTO shared_generations (policy, {_COLUMNS}) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            (self._policy, *generation.to_row()),
        )
        db.execute(
            "DELETE FROM shared_generations WHERE policy = %s AND number <= %s",
            (self._policy, generation.number - _KEPT),
        )


def newest(
    db: psycopg.Connection[Any], policy: int
) -> tuple[SharedGeneration, float] | tuple[None, float]:
    """The newest generation of a policy, and its age in seconds; None if there is no policy."""
    sql = (
        f"SELECT extract(epoch FROM clock_timestamp())::float8 - made, {_COLUMNS} "
        "FROM shared_generations WHERE policy = %s ORDER BY number DESC LIMIT 1"
    )
    row = db.execute(sql, (policy,), binary=True).fetchone()
    return (None, 0.0) if row is None else (SharedGeneration.from_row(*row[1:]), row[0])


def version_of(db: psycopg.Connection[Any], policy: int, version: int) -> SharedVersion | None:
    """What is stored of a version; None if there is none."""
    sql = "SELECT settings FROM shared_versions WHERE policy = %s AND number = %s"
    row = db.execute(sql, (policy, version), binary=True).fetchone()
    return None if row is None else SharedVersion.from_json(row[0])


def put_version(
    db: psycopg.Connection[Any], policy: int, number: int, version: SharedVersion
) -> None:
    """Let there be one more version."""
    db.execute(
        "INSERT INTO shared_versions (policy, number, settings, created) "
        "VALUES (%s, %s, %s, extract(epoch FROM clock_timestamp()))",
        (policy, number, version.to_json()),
    )
