"""The sums of every task of an agent, kept as rewards come in."""

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Indices, Matrix, Vector

WAITING = 1024
"""So many events wait in a list before they are added up: one at a time would be slow."""


class RunningSums:
    """TaskSums of a growing number of tasks; all that a belief must know to start over."""

    def __init__(self, dim: int, *, armed: bool) -> None:
        self._sums = TaskSums.zeros(0, dim, armed=armed)
        self._waiting: list[tuple[int, Vector | int, float]] = []  # row, features, reward

    def add(self, row: int, features: Vector | int, reward: float) -> None:
        """One more event of the task in this row."""
        waiting = self._waiting
        waiting.append((row, features, reward))
        if len(waiting) >= WAITING:
            self._add_waiting()

    def add_many(self, rows: Indices, features: Matrix | Indices, rewards: Vector) -> None:
        """More events, checked before."""
        self._add_waiting()
        if rows.size:
            self._sums = self._sums.with_room(int(rows.max()) + 1, self._sums.xy.shape[1])
            self._sums.add_rows(rows, features, rewards)

    def put(self, rows: Indices, sums: TaskSums) -> None:
        """The events of tasks that had none before."""
        self._add_waiting()
        self._sums = self._sums.with_room(int(rows.max(initial=-1)) + 1, self._sums.xy.shape[1])
        self._sums.put(rows, sums)

    def revise(self, row: int, features: Vector | int, old: float, new: float) -> None:
        """Replace a reward that was added earlier."""
        self._add_waiting()
        self._sums.revise(row, features, old, new)

    def total(self, num_tasks: int) -> TaskSums:
        """The sums of the first tasks, without a copy."""
        self._add_waiting()
        self._sums = self._sums.with_room(num_tasks, self._sums.xy.shape[1])
        return self._sums.rows(slice(num_tasks))

    def remove(self, row: int) -> None:
        """Forget a task; the rows after it move up."""
        self._add_waiting()
        self._sums = self._sums.rows(np.flatnonzero(np.arange(len(self._sums.n)) != row))

    def add_arm(self) -> None:
        """One more arm, which has had no event."""
        self._add_waiting()
        self._sums = self._sums.with_room(len(self._sums.n), self._sums.xy.shape[1] + 1)

    def _add_waiting(self) -> None:
        if self._waiting:
            rows, features, rewards = zip(*self._waiting, strict=True)
            self._waiting.clear()
            self.add_many(np.array(rows, np.intp), np.array(features), np.array(rewards))
