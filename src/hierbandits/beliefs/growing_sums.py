"""Sums of a growing number of tasks, to which single events are added quickly."""

from typing import Any

import numpy as np

from hierbandits.beliefs.growing_rows import GrowingRows
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.kernels.summation import add_arm, add_vector
from hierbandits.types import Indices, Vector


class GrowingSums:
    """`TaskSums` in arrays that grow without a pause."""

    def __init__(self, sums: TaskSums) -> None:
        self._rows = GrowingRows(sums.xx, sums.xy, sums.yy, sums.n)
        self._add: Any = add_arm if sums.is_armed else add_vector

    @property
    def n(self) -> Vector:
        """The number of events of each task, a copy."""
        return self._rows.part(3, np.arange(len(self._rows)))

    def make_room(self, num_tasks: int) -> None:
        """Let there be a row for each of so many tasks."""
        self._rows.make_room(num_tasks)

    def add_one(self, task: int, features: Any, reward: float) -> None:
        """Add an event, with features (d,) or an arm's index."""
        self._add(task, features, reward, *self._rows.place(task))

    def add(self, tasks: Any, features: Any, rewards: Any) -> None:
        """Add one event, as `add_one` takes it, or a batch of them."""
        if np.ndim(tasks) == 0:
            self.add_one(tasks, features, rewards)
        else:
            self.settled()._raw_add(tasks, features, rewards)

    def rows(self, tasks: Indices) -> TaskSums:
        """The sums of some of the tasks, copied."""
        return TaskSums(*self._rows.rows(tasks))

    def settled(self) -> TaskSums:
        """All sums in one place, without a copy."""
        return TaskSums(*self._rows.settled())
