"""The sums of a whole log, with the names of what was summed."""

from dataclasses import dataclass

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Indices, Name


@dataclass(frozen=True, slots=True, eq=False)
class LogSums:
    """All that a belief or a fit needs of a log, whatever its length."""

    sums: TaskSums
    tasks: tuple[Name, ...]  # the names of the rows of `sums`
    arms: tuple[Name, ...] | None  # the names of its arms, if armed
    populations: tuple[Name, ...]  # ("all",) if the log has no such column
    population: Indices  # the population of each task, a place in `populations`, (tasks,)

    @property
    def num_rows(self) -> int:
        """The number of events."""
        return int(self.sums.n.sum())
