"""The sums of a log's parts, added up name by name."""

from collections.abc import Sequence

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.logs.limits import LIMITS, Limits
from hierbandits.logs.log_sums import LogSums
from hierbandits.logs.names import Names
from hierbandits.logs.numbering import Numbering
from hierbandits.logs.polars_import import polars_module
from hierbandits.types import Indices, Name


class JoinedSums:
    """Sums that grow part by part; names are in the order of their first appearance."""

    def __init__(
        self, arms: Sequence[Name] | None = None, *, merge: bool = False, limits: Limits = LIMITS
    ) -> None:
        self._names, self._limits = Names(arms), limits
        self._tasks = Numbering("task", self._names.tasks, merge=merge)
        self._arms = Numbering("arm", self._names.arms, fixed=arms is not None, merge=merge)
        self._populations = Numbering("population", self._names.populations, merge=merge)
        self._sums: TaskSums | None = None

    def add(self, part: LogSums) -> None:
        """Add the sums of the next part."""
        tasks = _places(self._tasks, part.tasks)
        self._add_populations(part, tasks)
        dim = part.sums.xy.shape[1]
        at: Indices = np.arange(dim)
        if part.arms is not None:
            at = _places(self._arms, part.arms)
            dim = len(self._names.arms)
        each, num_tasks = (dim if part.sums.is_armed else dim**2), len(self._names.tasks)
        self._limits.check_table(num_tasks, dim, each, armed=part.sums.is_armed)
        if self._sums is None:
            self._sums = TaskSums.zeros(num_tasks, dim, armed=part.sums.is_armed)
        elif not part.sums.is_armed and dim != self._sums.xy.shape[1]:
            raise ValueError(
                f"features must be lists of {self._sums.xy.shape[1]} numbers in every file, got "
                f"{dim} in a later one"
            )
        sums = self._sums = self._sums.with_room(num_tasks, dim)
        sums.xy[np.ix_(tasks, at)] += part.sums.xy
        sums.xx[np.ix_(tasks, at, *([] if sums.is_armed else [at]))] += part.sums.xx
        sums.yy[tasks] += part.sums.yy
        sums.n[tasks] += part.sums.n

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return self._sums is None

    def total(self) -> LogSums:
        """The sums of all parts; at least one must have been added."""
        assert self._sums is not None
        names = self._names
        return LogSums(
            self._sums.rows(np.s_[: len(names.tasks)]),
            tuple(names.tasks),
            tuple(names.arms) if self._sums.is_armed else None,
            tuple(names.populations),
            names.population,
        )

    def _add_populations(self, part: LogSums, tasks: Indices) -> None:
        """Note the populations of new tasks; a task that has moved is refused."""
        names = self._names
        homes = _places(self._populations, part.populations)[part.population]
        known = tasks < names.population.size
        moved = np.flatnonzero(names.population[tasks[known]] != homes[known])
        if moved.size:
            task = tasks[known][moved[0]]
            home = names.populations[names.population[task]]
            other = names.populations[homes[known][moved[0]]]
            raise ValueError(
                f"population must stay {home!r} for task {names.tasks[task]!r} in every file, got "
                f"{other!r} in a later one"
            )
        size = len(names.tasks)
        population = np.empty(size, np.intp)
        population[: names.population.size] = names.population
        population[tasks[~known]] = homes[~known]
        names.population = population


def _places(numbering: Numbering, names: Sequence[Name]) -> Indices:
    """The places of a part's names among all."""
    return numbering.places(polars_module().Series(list(names)), range(len(names)))
