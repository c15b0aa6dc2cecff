"""The sums of every task of an agent, kept as rewards come in."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.beliefs.growing_rows import GrowingRows
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import state_array
from hierbandits.kernels.exact_addition import (
    add_arm_exactly,
    add_arms_exactly,
    add_exactly,
    add_vector_exactly,
    add_vectors_exactly,
)
from hierbandits.types import Indices, Matrix, Vector


class RunningSums:
    """TaskSums of a growing number of tasks; all that a belief must know to start over.

    Sums of rewards have twice the digits of a number: what rounding takes from them is kept too.
    So a reward can be replaced that was far larger than the others.  See `exact_addition` for the
    row of numbers that a task has.
    """

    def __init__(self, dim: int, *, armed: bool, rows: Matrix | None = None) -> None:
        self._dim, self._armed = dim, armed
        none = np.zeros((0, row_size(dim, armed=armed)))
        self._rows = GrowingRows(none if rows is None else rows)
        self._add_one: Any = add_arm_exactly if armed else add_vector_exactly
        self._add_all: Any = add_arms_exactly if armed else add_vectors_exactly

    @property
    def table(self) -> Matrix:
        """The rows of all tasks as they are kept; the constructor takes them back."""
        return self._sums

    def add(self, row: int, features: Any, reward: float) -> None:
        """One more event of the task in this row."""
        self._add_one(self._rows.place(row)[0], row, features, reward)

    def add_many(self, rows: Indices, features: Matrix | Indices, rewards: Vector) -> None:
        """More events, checked before."""
        self._rows.make_room(int(rows.max(initial=-1)) + 1)
        self._add_all(self._sums, rows, features, rewards)

    def put(self, rows: Indices, sums: TaskSums) -> None:
        """The events of tasks that had none before."""
        self._rows.make_room(int(rows.max(initial=-1)) + 1)
        for name, values in sums.state().items():
            self._parts()[name][rows] = values

    def revise(self, row: int, features: Any, old: float, new: float) -> None:
        """Replace a reward that was added earlier."""
        part = self._parts()
        place = (row, features) if self._armed else row
        weight = 1.0 if self._armed else features
        for reward, sign in ((old, -1.0), (new, 1.0)):
            add_exactly(part["xy"], part["lost_xy"], place, sign * (weight * reward))
            add_exactly(part["yy"], part["lost_yy"], row, sign * (reward * reward))

    def mean_square(self) -> float:
        """The mean square of all rewards; 0 if there are none."""
        number, square, lost = self._sums[:, -3:].sum(axis=0)
        return float((square + lost) / max(number, 1.0))

    def total(self, num_tasks: int) -> TaskSums:
        """The sums of the first tasks."""
        part = self.state(num_tasks)
        xy, yy = part["xy"] + part["lost_xy"], part["yy"] + part["lost_yy"]
        return TaskSums(part["xx"], xy, yy, part["n"])

    def rows(self, rows: Indices) -> TaskSums:
        """The sums of some of the tasks, copied; the others are not touched."""
        self._rows.make_room(int(rows.max(initial=-1)) + 1)
        part = {name: values[rows] for name, values in self._parts().items()}
        xy, yy = part["xy"] + part["lost_xy"], part["yy"] + part["lost_yy"]
        return TaskSums(part["xx"], xy, yy, part["n"])

    def count(self) -> float:
        """The number of all rewards."""
        return float(self._sums[:, -3].sum())

    def keep(self, rows: Indices) -> Callable[[], None]:
        """Copy what `revise` of these rows changes; returns a function that puts it back."""
        known = self._sums[rows]

        def put_back() -> None:
            self._sums[rows] = known  # wherever they are by then

        return put_back

    def without(self, row: int) -> "RunningSums":
        """A copy without a task; the rows after it move up."""
        sums = self._sums
        left = sums[np.arange(len(sums)) != row]
        return RunningSums(self._dim, armed=self._armed, rows=left)

    def with_past(self, rows: Indices, sums: TaskSums) -> "RunningSums":
        """A copy with the events of tasks that had none before."""
        twin = RunningSums(self._dim, armed=self._armed, rows=self._sums.copy())
        twin.put(rows, sums)
        return twin

    def with_arm(self) -> "RunningSums":
        """A copy with one more arm, which has had no event."""
        known, dim = self._parts(), self._dim + 1
        rows = np.zeros((len(known["n"]), 3 * dim + 3))
        for name, values in _parts_of(rows, dim, armed=True).items():
            values[tuple(slice(size) for size in known[name].shape)] = known[name]
        return RunningSums(dim, armed=True, rows=rows)

    def state(self, num_tasks: int) -> dict[str, NDArray[Any]]:
        """All sums by name, a row for each task, without copies."""
        self._rows.make_room(num_tasks)
        return {name: values[:num_tasks] for name, values in self._parts().items()}

    def restore(self, arrays: dict[str, NDArray[Any]], num_tasks: int) -> None:
        """Take the sums that `state` described, checked, in place of none."""
        dim = self._dim
        sums = TaskSums.from_state(arrays, dim, armed=self._armed)
        if len(sums.n) != num_tasks:
            raise ValueError(f"sums must have {num_tasks} rows, one for each task")
        lost_xy = state_array("lost_xy", arrays["lost_xy"], (num_tasks, dim))
        lost_yy = state_array("lost_yy", arrays["lost_yy"], (num_tasks,))
        self.put(np.arange(num_tasks), sums)
        part = self._parts()
        part["lost_xy"][:num_tasks], part["lost_yy"][:num_tasks] = lost_xy, lost_yy

    def _parts(self) -> dict[str, NDArray[Any]]:
        """All sums by name, as views."""
        return _parts_of(self._sums, self._dim, armed=self._armed)

    @property
    def _sums(self) -> Matrix:
        """The rows of all tasks in one place."""
        return self._rows.settled()[0]


def row_size(dim: int, *, armed: bool) -> int:
    """How many numbers a task has."""
    return (dim if armed else dim * dim) + 2 * dim + 3


def _parts_of(sums: Matrix, dim: int, *, armed: bool) -> dict[str, NDArray[Any]]:
    """The parts of rows of numbers by name, as views."""
    xx = sums[:, : -2 * dim - 3]
    return {
        "xx": xx if armed else xx.reshape(len(xx), dim, dim),
        "xy": sums[:, -2 * dim - 3 : -dim - 3],
        "yy": sums[:, -2],
        "n": sums[:, -3],
        "lost_xy": sums[:, -dim - 3 : -3],
        "lost_yy": sums[:, -1],
    }
