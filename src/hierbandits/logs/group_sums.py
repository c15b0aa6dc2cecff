"""The sums of every task's events, apart for each group of rows."""

from collections.abc import Iterable
from functools import reduce
from operator import add

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.logs.batch import Batch
from hierbandits.logs.limits import LIMITS, Limits
from hierbandits.types import Indices


class GroupSums:
    """Sums that grow batch by batch, in the memory of the tasks; see `Split` for the groups.

    `record` is what the log is reduced to: the model that is to learn it says so (`ModelKind`).
    A log whose table of tasks and arms would be too large is refused before there is room for it,
    and so are names that are too long.
    """

    def __init__(
        self,
        num_groups: int = 1,
        record: type[TaskSums] = TaskSums,
        limits: Limits = LIMITS,
    ) -> None:
        self._num_tasks = self._num_arms = 0
        self._record, self._limits = record, limits
        self._sums: list[TaskSums | None] = [None] * num_groups

    def add(self, batch: Batch, groups: Indices | None = None) -> None:
        """Add a batch; `groups` is the group of each row, (E,), or None if there is but one."""
        num_tasks, armed = len(batch.names.tasks), batch.is_armed
        each = batch.dim if armed else batch.dim**2
        self._limits.check_table(num_tasks, batch.dim, each, armed=armed)
        self._limits.check_names("task", batch.names.tasks[self._num_tasks :])
        self._limits.check_names("arm", batch.names.arms[self._num_arms :])
        self._num_tasks, self._num_arms = num_tasks, len(batch.names.arms)
        for group, sums in enumerate(self._sums):
            rows = slice(None) if groups is None else np.flatnonzero(groups == group)
            if sums is None:
                sums = self._record.zeros(num_tasks, batch.dim, armed=batch.is_armed)
            sums = self._sums[group] = sums.with_room(num_tasks, batch.dim)
            sums.add(batch.tasks[rows], batch.features[rows], batch.rewards[rows])

    def of(self, groups: Iterable[int]) -> TaskSums:
        """The sums of these groups together, a row for each task."""
        chosen = [self._sums[group] for group in groups]
        parts = [sums.rows(np.s_[: self._num_tasks]) for sums in chosen if sums is not None]
        return reduce(add, parts)

    def total(self) -> TaskSums:
        """The sums of all rows, a row for each task."""
        return self.of(range(len(self._sums)))
