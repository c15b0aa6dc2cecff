"""Folds what tasks of a shared policy have learned into its next generation."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import psycopg

from hierbandits.beliefs.absent_tasks import AbsentTasks
from hierbandits.beliefs.contribution import Contribution
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.service.api_problem import PolicyGone
from hierbandits.service.live_rollout import ANYBODY
from hierbandits.service.shared_generation import SharedGeneration
from hierbandits.service.shared_history import FORGET_HISTORY
from hierbandits.service.shared_links import SharedLinks
from hierbandits.service.shared_metrics import forget_metrics
from hierbandits.service.shared_model import SharedModel
from hierbandits.service.shared_refit import SharedRefit
from hierbandits.service.shared_rollout import SharedRollout, is_due
from hierbandits.service.shared_sums import SharedSums
from hierbandits.service.shared_tasks import SharedTasks
from hierbandits.service.shared_version import SharedVersion
from hierbandits.service.shared_widths import SharedWidths

AT_ONCE = 5_000
"""Tasks that one generation folds at most."""
LIFETIME = 1_000
"""Generations after which all tasks are added up anew, so that rounding does not grow."""
FOLDING = 0x68626E65
"""Half of the advisory lock of whoever folds a policy."""
_LONGEST = 600.0
"""Seconds after which a fold is given up: its worker may be cut off, and nobody else can fold."""
_MANY = 64
"""Rewards from which on the server looks at its tables whenever they are four times as many."""
_KEPT = 100  # generations, for people who look
_COLUMNS = "number, version, hierarchy, told, rewards, due, age"

Change = Callable[[SharedVersion, SharedRollout, int], SharedVersion]
"""What gives the version of a number after another one, and tells the rollout what it changes."""


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
        self._widths = SharedWidths(self._policy, model)

    def first(self) -> SharedGeneration:
        """The generation before any reward; a ValueError if none can be made."""
        hierarchy, due = self._widths.first()
        absent = AbsentTasks.of(hierarchy)
        absent.told_by(TaskSums.zeros(1, hierarchy.dim, armed=hierarchy.is_armed))
        return SharedGeneration(1, self._version, hierarchy, absent.nothing(), 0, due, 0)

    def begin_with(self, db: psycopg.Connection[Any], rewards: int) -> None:
        """The first generation of a policy, where tasks have learned so many rewards already."""
        first = self.first()
        self.put(db, self._anew(db, first, (), rewards) if rewards else first)

    def fold(self, refresh: float = 0.0, growth: float = 0.0) -> int:
        """Fold tasks that have learned; how many, AT_ONCE at most.

        0 if somebody else folds now, and also if the newest generation was made less than `refresh`
        seconds ago, and rewards have grown by less than the share `growth` since.
        """
        with self._links.transaction(_LONGEST) as db:
            if not lock_folding(db, self._policy, waits=False):
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
            if len(dirty) < AT_ONCE and self._widths.needs_refit(now, generation):
                generation = SharedRefit(db, self._policy, self._tasks).of(generation)
            else:
                self._tasks.fold(db, dirty)
            self.put(db, generation)
        self.rewards = rewards = generation.rewards
        if rewards >= _MANY and rewards.bit_length() // 2 > now.rewards.bit_length() // 2:
            self._links.analyze()
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
        if due is not None and rewards >= due:
            before = None if due == self._widths.first()[1] else hierarchy
            rows = self._rows(db, newer)
            hierarchy, due = self._widths.fitted(db, rows, rewards, before)
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

    def _all(self, db: psycopg.Connection[Any], newer: dict[bytes, bytes]) -> Iterator[TaskSums]:
        """The sums of all tasks that have learned, as they are folded then."""
        for _, rows in self._rows(db, newer):
            sums = rows.known()
            yield sums.rows(np.flatnonzero(sums.n > 0))

    def _rows(
        self, db: psycopg.Connection[Any], newer: dict[bytes, bytes]
    ) -> Iterator[tuple[list[bytes], SharedSums]]:
        """The keys and numbers of all tasks, as they are folded then."""
        for rows in self._tasks.all_folded(db):
            sums = self._tasks.sums(newer.get(key, folded) for key, folded in rows)
            yield [key for key, _ in rows], sums

    def _sums(self, rows: Any) -> TaskSums:
        return self._tasks.sums(rows).known()

    def _number(self, dirty: Sequence[Any]) -> int:
        """How many rewards are new in tasks."""
        columns = zip(*(row[1:3] for row in dirty), strict=True)
        new, old = (float(self._sums(column).n.sum()) for column in columns)
        return round(new - old)

    def change_version(self, change: Change) -> SharedGeneration:
        """Let a version follow the newest one, in one transaction, and nobody folds meanwhile.

        If `change` gives the same version, only the rollout is changed.  All tasks tell under the
        new model, unless it is the old one: then only arms were retired.
        """
        with self.folding() as (db, now):
            old = version_of(db, self._policy, now.version)
            assert old is not None  # its generation is there
            rollout, number = SharedRollout(db, self._policy), now.version + 1
            rollout.take_all()
            new = change(old, rollout, number)
            rollout.save()
            if new == old:
                return now
            put_version(db, self._policy, number, new)
            self._follow(db, number)
            if new.settings == old.settings and new.model().dim == now.hierarchy.dim:
                generation = replace(now, number=now.number + 1, version=number, age=now.age + 1)
            else:
                start = replace(self.first(), number=now.number)
                generation = self._anew(db, start, (), now.rewards)
                if self._widths.needs_refit(start, generation):
                    generation = SharedRefit(db, self._policy, self._tasks).of(generation)
            self.put(db, generation)
        return generation

    def tick(self) -> bool:
        """Let the rollout go on if something waits for that, and nobody else folds now.

        Whether more may wait at once.
        """
        if not is_due(self._links.read, self._policy):
            return False
        with self._links.transaction(_LONGEST) as db:
            if not lock_folding(db, self._policy, waits=False):
                return False
            rollout = SharedRollout(db, self._policy)
            is_more = rollout.take()
            rollout.step_if_due()
            rollout.save()
        return is_more

    def forget(self, key: bytes, by: str = ANYBODY) -> int | None:
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
            measured = forget_metrics(db, self._policy, key)
            db.execute(
                "DELETE FROM shared_rewards USING shared_decisions AS made "
                "WHERE made.policy = %s AND made.task_key = %s "
                "AND shared_rewards.policy = made.policy AND shared_rewards.id = made.id",
                of_it,
            )
            sql = "DELETE FROM shared_decisions WHERE policy = %s AND task_key = %s"
            number = db.execute(sql, of_it).rowcount
            db.execute(FORGET_HISTORY, (self._policy,))
            rollout = SharedRollout(db, self._policy)
            rollout.task_deleted(by)
            if measured:
                rollout.judge_anew()
            rollout.save()
            gone = int(self._sums([row[0]]).n.sum())
            left = replace(now, due=None)  # widths stay as they are
            generation = self._anew(db, left, (), now.rewards - gone)
            self.put(db, replace(generation, due=now.due))
        return number

    @contextmanager
    def folding(self) -> Iterator[tuple[psycopg.Connection[Any], SharedGeneration]]:
        """A transaction in which nobody else folds, and the newest generation."""
        with self._links.transaction(_LONGEST) as db:
            lock_folding(db, self._policy)
            now, _ = newest(db, self._policy)
            if now is None:
                raise PolicyGone("deleted")
            self._follow(db, now.version)
            yield db, now

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


def lock_folding(db: psycopg.Connection[Any], policy: int, *, waits: bool = True) -> bool:
    """Keep others from folding a policy in this transaction; False if somebody else does that."""
    half = (policy ^ (policy >> 32)) & 0x7FFFFFFF
    if waits:
        db.execute("SELECT pg_advisory_xact_lock(%s, %s)", (FOLDING, half))
        return True
    row = db.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", (FOLDING, half)).fetchone()
    return row is not None and bool(row[0])


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
