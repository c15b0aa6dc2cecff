"""A look at the widths of clicks and counts, by rewards that the store has."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from typing import Any

import msgspec
import numpy as np
import psycopg

from hierbandits.beliefs.adaptive_matched_belief import AdaptiveMatchedBelief
from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.beliefs.family_width_look import (
    FIRST_WIDTHS,
    MOST_ROWS,
    FamilyWidthLook,
    units_of,
    widths_in,
)
from hierbandits.beliefs.refit import FIRST_REFIT
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.service.postgres_rows import columns
from hierbandits.service.shared_ledger import features_of
from hierbandits.service.shared_sums import SharedSums, joined
from hierbandits.types import Indices, Vector

FIRST_DUE = int(FIRST_REFIT)
"""The rewards at which widths are looked at first."""
LEAST_TASKS = 20
"""Of so many tasks at least a look has rewards, if there are as many: of each the newest."""
SILENCE = 300
"""Seconds after which the server gives up who looks; where kernels are compiled first, it may take
a minute."""
_TIMEOUT = "idle_in_transaction_session_timeout"
_SET = "SELECT set_config(%s, %s, true)"
_NEWEST = (
    "SELECT place, data, value FROM unnest(%b::bytea[]) WITH ORDINALITY AS of_task (key, place), "
    "LATERAL (SELECT data, value FROM shared_decisions AS made JOIN shared_rewards AS given "
    "ON given.policy = made.policy AND given.id = made.id "
    "WHERE made.policy = %s AND made.task_key = key ORDER BY given.at DESC, made.id LIMIT %s) "
    "AS newest ORDER BY place"
)

Rows = Iterable[tuple[Sequence[bytes], SharedSums]]


def look_due_after(rewards: int) -> int:
    """The rewards at which to look at widths again, after a look at so many."""
    return ceil(AdaptiveMatchedBelief.LOOK_GROWTH * rewards)


class SharedLook:
    """Fits widths as a belief in one process does, to some of the rewards of a shared policy.

    Where rewards of arms add up, the rows of tasks are all that it reads.  Otherwise it reads
    rewards, of the tasks that have the most: MOST_ROWS in all.  So its memory is bounded.
    """

    def __init__(
        self, db: psycopg.Connection[Any], policy: int, model: UnknownFamilyWidths
    ) -> None:
        self._db, self._policy, self._model = db, policy, model

    def hierarchy(self, rows: Rows, before: GaussianHierarchy | None) -> GaussianHierarchy:
        """The one that rewards support; `before` is that of the last look.

        `rows` are the sums of all tasks by their keys, some at a time.
        """
        model = self._model
        in_sums = model.is_armed and model.rewards.ADDS_UP
        sites, totals = self._of_sums(rows) if in_sums else (self._of_rewards(rows), ())
        widths = FIRST_WIDTHS if before is None else widths_in(before, units_of(sites))
        with self._silence():
            return FamilyWidthLook(model, sites, widths, totals).hierarchy()

    @contextmanager
    def _silence(self) -> Iterator[None]:
        """Let the server hear nothing for longer than usual, while this process computes."""
        ((usual,),) = self._db.execute(f"SHOW {_TIMEOUT}").fetchall()
        self._db.execute(_SET, (_TIMEOUT, f"{SILENCE}s"))
        yield
        self._db.execute(_SET, (_TIMEOUT, usual))

    def _of_sums(self, rows: Rows) -> tuple[FamilySites, Sequence[Vector]]:
        """The sums of arms of the tasks with the most rewards; and of all, with their number."""
        some, totals = TaskSums.zeros(0, self._model.dim, armed=True), np.zeros(2)
        for _, sums in rows:
            more = sums.rewards.total(len(sums))
            totals += more.xy.sum(), more.n.sum()
            some = joined(some, more)
            some = some.rows(_most_rewarded(some.n, np.count_nonzero(some.xx, axis=1)))
        return FamilySites.of_arms(self._model.rewards, some), (totals[:1], totals[1:])

    def _of_rewards(self, rows: Rows) -> FamilySites:
        """The newest rewards of the tasks with the most."""
        keys, n = np.empty(0, object), np.empty(0)
        for more, sums in rows:
            keys, n = np.append(keys, np.array(more, object)), np.append(n, sums.known().n)
            kept = _most_rewarded(n, np.ones(n.size))
            keys, n = keys[kept], n[kept]
        most = MOST_ROWS if n.sum() <= MOST_ROWS else MOST_ROWS // min(n.size, LEAST_TASKS)
        chosen = keys[_most_rewarded(n, np.minimum(n, most))].tolist()
        found = self._db.execute(_NEWEST, (chosen, self._policy, most), binary=True).fetchall()
        places, data, values = columns(found, 3)
        features = [features_of(msgspec.json.decode(one)) for one in data]
        table = np.array(features, np.intp if self._model.is_armed else float)
        return FamilySites(
            self._model.rewards, np.array(places) - 1, table, np.array(values),
            np.ones(len(values)), num_tasks=len(chosen), dim=self._model.dim,
        )  # fmt: skip


def _most_rewarded(n: Vector, rows: Vector) -> Indices:
    """The tasks with the most rewards that have MOST_ROWS together, in their order."""
    order = np.argsort(-n, kind="stable")[: np.count_nonzero(n)]
    within = int((np.cumsum(rows[order]) <= MOST_ROWS).sum())
    return np.sort(order[: max(1, within)])
