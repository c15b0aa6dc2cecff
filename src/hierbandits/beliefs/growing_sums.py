"""Sums of a growing number of tasks, which no single event waits for."""

from typing import Any

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Indices, Vector

ROWS = 64
"""How many rows move to a larger place with each event."""


class GrowingSums:
    """`TaskSums` with room for more tasks; when it is full, rows move to a larger one by and by.

    Rows before `_moved` are in the new place already.  Those after it are in the old one still,
    if it has them.
    """

    def __init__(self, sums: TaskSums) -> None:
        self._sums = sums
        self._old: TaskSums | None = None
        self._moved = 0

    @property
    def n(self) -> Vector:
        """The number of events of each task."""
        n = self._sums.n
        if self._old is not None:
            n = n.copy()
            n[self._moved : len(self._old.n)] = self._old.n[self._moved :]
        return n

    def rows(self, tasks: Indices) -> TaskSums:
        """The sums of some of the tasks, wherever they are."""
        found = self._sums.rows(tasks)
        if self._old is not None:
            stay = np.flatnonzero((tasks >= self._moved) & (tasks < len(self._old.n)))
            found.put(stay, self._old.rows(tasks[stay]))
        return found

    @property
    def is_moving(self) -> bool:
        """Whether some rows are still in the old place."""
        return self._old is not None

    def make_room(self, num_tasks: int) -> None:
        """Let there be a row for each of so many tasks."""
        have, dim = self._sums.xy.shape
        if num_tasks > have:
            self._old = self.settled()
            capacity = max(num_tasks, have + have // 2)
            self._sums = TaskSums.zeros(capacity, dim, armed=self._old.is_armed)
            self._moved = 0

    def add_one(self, task: int, features: Any, reward: float) -> None:
        """Add an event, with features (d,) or an arm's index."""
        if self._old is None:
            self._sums.add_one(task, features, reward)
        else:
            self._move(ROWS)
            stays = self._old is not None and self._moved <= task < len(self._old.n)
            place = self._old if stays else self._sums
            assert place is not None
            place.add_one(task, features, reward)

    def settled(self) -> TaskSums:
        """All sums in one place."""
        if self._old is not None:
            self._move(len(self._old.n))
        return self._sums

    def _move(self, number: int) -> None:
        assert self._old is not None
        rows = slice(self._moved, self._moved + number)
        part = self._old.rows(rows)
        self._sums.put(slice(rows.start, rows.start + len(part.n)), part)
        self._moved = rows.stop
        if self._moved >= len(self._old.n):
            self._old = None
