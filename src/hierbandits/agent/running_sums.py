"""The sums of every task of an agent, kept as rewards come in."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import state_array
from hierbandits.kernels.exact_addition import (
    add_arms_exactly,
    add_exactly,
    add_vectors_exactly,
)
from hierbandits.types import Indices, Matrix, Vector

WAITING = 128
"""So many events wait in a list before they are added up: one at a time would be slow."""


class RunningSums:
    """TaskSums of a growing number of tasks; all that a belief must know to start over.

    Sums of rewards have twice the digits of a number: what rounding takes from them is kept too.
    So a reward can be replaced that was far larger than the others.
    """

    def __init__(self, dim: int, *, armed: bool) -> None:
        self._sums = TaskSums.zeros(0, dim, armed=armed)
        self._lost_xy, self._lost_yy = np.zeros((0, dim)), np.zeros(0)
        self._waiting: list[tuple[int, Any, float]] = []  # row, features, reward

    def add(self, row: int, features: Any, reward: float) -> None:
        """One more event of the task in this row."""
        waiting = self._waiting
        waiting.append((row, features, reward))
        if len(waiting) >= WAITING:
            self._add_waiting()

    def add_many(self, rows: Indices, features: Matrix | Indices, rewards: Vector) -> None:
        """More events, checked before."""
        self._add_waiting()
        if rows.size:
            self._make_room(int(rows.max()) + 1, self._sums.xy.shape[1])
            add = add_arms_exactly if self._sums.is_armed else add_vectors_exactly
            sums, lost = self._sums, (self._lost_xy, self._lost_yy)
            add(rows, features, rewards, sums.xx, sums.xy, sums.yy, sums.n, *lost)

    def put(self, rows: Indices, sums: TaskSums) -> None:
        """The events of tasks that had none before."""
        self._add_waiting()
        self._make_room(int(rows.max(initial=-1)) + 1, self._sums.xy.shape[1])
        self._sums.put(rows, sums)

    def revise(self, row: int, features: Any, old: float, new: float) -> None:
        """Replace a reward that was added earlier."""
        self._add_waiting()
        place = (row, features) if self._sums.is_armed else row
        weight = 1.0 if self._sums.is_armed else features
        for reward, sign in ((old, -1.0), (new, 1.0)):
            add_exactly(self._sums.xy, self._lost_xy, place, sign * (weight * reward))
            add_exactly(self._sums.yy, self._lost_yy, row, sign * (reward * reward))

    def mean_square(self) -> float:
        """The mean square of all rewards; 0 if there are none."""
        self._add_waiting()
        square = self._sums.yy.sum() + self._lost_yy.sum()
        return float(square / max(self._sums.n.sum(), 1.0))

    def total(self, num_tasks: int) -> TaskSums:
        """The sums of the first tasks."""
        self._add_waiting()
        self._make_room(num_tasks, self._sums.xy.shape[1])
        xy, yy = self._sums.xy + self._lost_xy, self._sums.yy + self._lost_yy
        return TaskSums(self._sums.xx, xy, yy, self._sums.n).rows(slice(num_tasks))

    def remove(self, row: int) -> None:
        """Forget a task; the rows after it move up."""
        self._add_waiting()
        others = np.flatnonzero(np.arange(len(self._sums.n)) != row)
        self._sums = self._sums.rows(others)
        self._lost_xy, self._lost_yy = self._lost_xy[others], self._lost_yy[others]

    def add_arm(self) -> None:
        """One more arm, which has had no event."""
        self._add_waiting()
        self._make_room(len(self._sums.n), self._sums.xy.shape[1] + 1)

    def state(self, num_tasks: int) -> dict[str, NDArray[Any]]:
        """All arrays by name, a row for each task."""
        self._add_waiting()
        self._make_room(num_tasks, self._sums.xy.shape[1])
        lost = {"lost_xy": self._lost_xy, "lost_yy": self._lost_yy}
        return {name: part[:num_tasks] for name, part in (self._sums.state() | lost).items()}

    def restore(self, arrays: dict[str, NDArray[Any]], num_tasks: int) -> None:
        """Take the sums that `state` described, checked, in place of none."""
        dim, armed = self._sums.xy.shape[1], self._sums.is_armed
        sums = TaskSums.from_state(arrays, dim, armed=armed)
        if len(sums.n) != num_tasks:
            raise ValueError(f"sums must have {num_tasks} rows, one for each task")
        lost_xy = state_array("lost_xy", arrays["lost_xy"], (num_tasks, dim))
        lost_yy = state_array("lost_yy", arrays["lost_yy"], (num_tasks,))
        self.put(np.arange(num_tasks), sums)
        self._lost_xy[:num_tasks], self._lost_yy[:num_tasks] = lost_xy, lost_yy

    def _make_room(self, num_tasks: int, dim: int) -> None:
        self._sums = self._sums.with_room(num_tasks, dim)
        have, known = self._lost_xy.shape
        if (have, known) != self._sums.xy.shape:
            more = len(self._sums.n) - have
            self._lost_xy = np.pad(self._lost_xy, ((0, more), (0, self._sums.xy.shape[1] - known)))
            self._lost_yy = np.pad(self._lost_yy, (0, more))

    def _add_waiting(self) -> None:
        if self._waiting:
            rows, features, rewards = zip(*self._waiting, strict=True)
            self._waiting.clear()
            table: Any = (
                np.array(features)
                if self._sums.is_armed
                else np.concatenate(features).reshape(len(rows), -1)
            )
            self.add_many(np.array(rows, np.intp), table, np.array(rewards))
