"""The sufficient statistics of tasks: all that a belief needs of a log of any length."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierbandits.checks import LARGEST, count, float_array, index_array, real_array, state_array
from hierbandits.kernels.summation import add_arms, add_vectors
from hierbandits.models.log_totals import LogTotals
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskSums:
    """Sums over each task's events (x, y), one row per task; add more events at any time."""

    xx: Matrix  # X'X, (tasks, d, d); the counts of each arm, (tasks, K), if armed
    xy: Matrix  # X'Y, (tasks, d)
    yy: Vector  # Y'Y, (tasks,)
    n: Vector  # number of events, (tasks,)

    def __post_init__(self) -> None:
        # Kernels take the arrays on trust.
        for part in fields(TaskSums):
            array = float_array(f"sums.{part.name}", getattr(self, part.name))
            object.__setattr__(self, part.name, array)
        shape = self.xy.shape
        if len(shape) != 2 or self.xx.shape not in (shape, (*shape, shape[1])):
            raise ValueError(
                "sums.xx must have shape (tasks, d, d), or (tasks, K) if armed, to match sums.xy, "
                f"got {self.xx.shape} and {shape}"
            )
        for name in ("yy", "n"):
            if getattr(self, name).shape != shape[:1]:
                raise ValueError(
                    f"sums.{name} must have shape ({shape[0]},) to match sums.xy, got "
                    f"{getattr(self, name).shape}"
                )

    def __repr__(self) -> str:
        form = f"{self.xy.shape[1]} {'arms' if self.is_armed else 'features'}"
        return f"<TaskSums of {self.n.sum():,.0f} events of {len(self.n):,} tasks, {form}>"

    @classmethod
    def zeros(cls, num_tasks: int, dim: int, *, armed: bool = False) -> "TaskSums":
        """No events yet."""
        num_tasks, dim = count("num_tasks", num_tasks), count("dim", dim, least=1)
        shape = (num_tasks, dim) if armed else (num_tasks, dim, dim)
        return cls(
            np.zeros(shape), np.zeros((num_tasks, dim)), np.zeros(num_tasks), np.zeros(num_tasks)
        )

    @property
    def is_armed(self) -> bool:
        """Whether features are arm indices."""
        return self.xx.ndim == 2

    def check_finite(self) -> None:
        """Raise an error if a sum is not finite."""
        for name, values in self.state().items():
            state_array(f"sums.{name}", values, values.shape)

    def feature_mean_squares(self) -> Vector:
        """The mean square of each feature, (d,); with arms, the share of events of each.

        Where it is 0, the largest takes its place, or 1 if all are 0.
        """
        squares = self.xx.sum(0) if self.is_armed else np.diagonal(self.xx.sum(0))
        mean = squares / self.n.sum()
        return np.where(mean > 0, mean, mean.max(initial=0.0) or 1.0)

    def totals(self) -> LogTotals:
        """What identifies the log that was summed, whatever the order of its tasks and arms."""
        squares = self.xx if self.is_armed else np.diagonal(self.xx, axis1=1, axis2=2)
        return LogTotals.of(squares, self.xy, self.yy, self.n)

    def add(self, tasks: ArrayLike, features: ArrayLike, rewards: ArrayLike) -> None:
        """Add a batch of events: features (E, d), or arm indices (E,) when armed."""
        num_tasks, dim = self.xy.shape
        rows = index_array("tasks", tasks, num_tasks, "tasks")
        values = real_array("rewards", rewards, (rows.size,), " to match tasks")
        if self.is_armed:
            arms = index_array("features", features, dim, "arms")
            if arms.size != rows.size:
                raise ValueError(f"features must have one arm per task, got {arms.size}")
            self._raw_add(rows, arms, values)
        else:
            x = real_array("features", features, (rows.size, dim), " to match tasks")
            self._raw_add(rows, x, values)

    def _raw_add(self, tasks: Indices, features: Matrix | Indices, rewards: Vector) -> None:
        """`add` of arrays that were checked before."""
        add = add_arms if self.is_armed else add_vectors
        add(tasks, features, rewards, self.xx, self.xy, self.yy, self.n)

    def revise(self, task: int, features: Any, old_reward: float, new_reward: float) -> None:
        """Replace a reward that was added earlier; `features` are (d,), or an arm's index."""
        num_tasks, dim = self.xy.shape
        row = index_array("task", [task], num_tasks, "tasks")[0]
        old, new = real_array("rewards", [old_reward, new_reward], (2,))
        if self.is_armed:
            self.xy[row, index_array("features", [features], dim, "arms")[0]] += new - old
        else:
            self.xy[row] += (new - old) * real_array("features", features, (dim,))
        self.yy[row] += new**2 - old**2

    def rows(self, tasks: ArrayLike | slice) -> "TaskSums":
        """The sums of some of the tasks."""
        if not isinstance(tasks, slice):
            tasks = index_array("tasks", tasks, len(self.n), "tasks")
        return TaskSums(self.xx[tasks], self.xy[tasks], self.yy[tasks], self.n[tasks])

    def _put(self, tasks: Indices, other: "TaskSums") -> None:
        """Replace the sums of some of the tasks."""
        for part in fields(TaskSums):
            getattr(self, part.name)[tasks] = getattr(other, part.name)

    def _grouped(self, group: Indices, num_groups: int) -> "TaskSums":
        """The sums of groups of tasks; `group[s]` is the group of task s."""
        grouped = TaskSums.zeros(num_groups, self.xy.shape[1], armed=self.is_armed)
        for part in fields(TaskSums):
            np.add.at(getattr(grouped, part.name), group, getattr(self, part.name))
        return grouped

    def with_unit_vectors(self) -> "TaskSums":
        """Armed sums as those of features, where an arm is a unit vector."""
        if not self.is_armed:
            raise ValueError(f"sums must be armed, got the shape {self.xx.shape}")
        xx = self.xx[:, :, None] * np.eye(self.xy.shape[1])
        return TaskSums(xx, self.xy, self.yy, self.n)

    def with_arms_at(self, places: ArrayLike, num_arms: int) -> "TaskSums":
        """Armed sums with arm i at places[i] among `num_arms` arms."""
        moved = TaskSums.zeros(len(self.n), count("num_arms", num_arms, 1), armed=True)
        at = index_array("places", places, num_arms, "arms")
        if not self.is_armed or self.xy.shape[1] != at.size:
            raise ValueError(
                f"places must be one for each arm, got {at.size} for sums of shape {self.xx.shape}"
            )
        moved.xx[:, at], moved.xy[:, at] = self.xx, self.xy
        moved.yy[:], moved.n[:] = self.yy, self.n
        return moved

    def with_room(self, num_tasks: int, dim: int) -> "TaskSums":
        """These sums, or a copy with room for at least so many tasks and arms."""
        num_tasks, dim = count("num_tasks", num_tasks), count("dim", dim)
        have, known = self.xy.shape
        if have >= num_tasks and known >= dim:
            return self
        capacity = have if have >= num_tasks else max(num_tasks, have + have // 2)
        larger = TaskSums.zeros(capacity, max(dim, known), armed=self.is_armed)
        for old, new in ((self.xx, larger.xx), (self.xy, larger.xy)):
            new[tuple(slice(size) for size in old.shape)] = old
        larger.yy[:have], larger.n[:have] = self.yy, self.n
        return larger

    def state(self) -> dict[str, NDArray[Any]]:
        """All sums by name, without copies."""
        return {part.name: getattr(self, part.name) for part in fields(TaskSums)}

    @classmethod
    def from_state(cls, arrays: dict[str, NDArray[Any]], dim: int, *, armed: bool) -> "TaskSums":
        """The sums that `state` described, checked."""
        if missing := {"xx", "xy", "yy", "n"} - set(arrays):
            raise ValueError(f"arrays must hold sums, got none of {sorted(missing)}")
        xx = state_array("xx", arrays["xx"], (None, dim) if armed else (None, dim, dim))
        xy = state_array("xy", arrays["xy"], (len(xx), dim))
        yy, n = (state_array(name, arrays[name], (len(xx),)) for name in ("yy", "n"))
        if ((n < 0) | (n != np.round(n))).any():
            raise ValueError("n must be numbers of events")
        for name, values in (("xx", xx), ("xy", xy), ("yy", yy)):
            most = 1.001 * LARGEST**2 * n.reshape(-1, *[1] * (values.ndim - 1))
            if (np.abs(values) > most).any():
                raise ValueError(f"{name} must be sums of n products of numbers, {LARGEST:g} each")
        return cls(xx, xy, yy, n)

    def __add__(self, other: "TaskSums") -> "TaskSums":
        """The sums of both logs, task by task."""
        if not isinstance(other, TaskSums):
            return NotImplemented
        if self.xx.shape != other.xx.shape:
            raise ValueError(f"other must have xx of shape {self.xx.shape}, got {other.xx.shape}")
        return TaskSums(
            self.xx + other.xx, self.xy + other.xy, self.yy + other.yy, self.n + other.n
        )
