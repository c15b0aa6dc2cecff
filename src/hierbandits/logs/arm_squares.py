"""The squares of every task's and arm's rewards, apart for each group of rows."""

from collections.abc import Iterable

import numpy as np

from hierbandits.logs.batch import Batch
from hierbandits.types import Indices, Matrix


class ArmSquares:
    """Sums of squared rewards that grow batch by batch, beside those of `GroupSums`.

    `TaskSums` has the squares of a task's rewards in one sum, which is all that one noise needs.
    Noises of arms need them arm by arm.
    """

    def __init__(self, num_groups: int = 1) -> None:
        self._squares: Matrix = np.zeros((num_groups, 0, 0))
        self._num_tasks = 0

    def add(self, batch: Batch, groups: Indices | None = None) -> None:
        """Add a batch of a log with arms; `groups` is the group of each row, or None."""
        places = np.zeros(batch.num_rows, np.intp) if groups is None else groups
        self._make_room(len(batch.names.tasks), batch.dim)
        at = (places, batch.tasks, np.asarray(batch.features, np.intp))
        np.add.at(self._squares, at, batch.rewards**2)

    def of(self, groups: Iterable[int]) -> Matrix:
        """The squares of these groups together, (tasks, K)."""
        total: Matrix = self._squares[list(groups), : self._num_tasks].sum(0)
        return total

    def total(self) -> Matrix:
        """The squares of all rows, (tasks, K)."""
        return self.of(range(len(self._squares)))

    def _make_room(self, num_tasks: int, num_arms: int) -> None:
        groups, tasks, arms = self._squares.shape
        self._num_tasks = num_tasks
        if num_tasks > tasks or num_arms > arms:
            room = tasks if num_tasks <= tasks else max(num_tasks, tasks + tasks // 2)
            larger = np.zeros((groups, room, max(arms, num_arms)))
            larger[:, :tasks, :arms] = self._squares
            self._squares = larger
