"""What a log is made of: its columns, the names met in it, its batches and its sums."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.arrays import Indices, Mask, Matrix, Vector
from hierbandits.decision import Name
from hierbandits.sums import TaskSums


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column holds what; the arm played or its features, and whatever else was logged."""

    task: str
    reward: str
    arm: str | None = None
    features: str | Sequence[str] | None = None  # one column of lists, or a column for each
    population: str | None = None  # of the row's task
    decision: str | None = None  # an id, different in every row
    propensity: str | None = None  # the probability with which the arm was chosen
    eligible: str | None = None  # lists of arms; in a CSV they are separated by |
    time: str | None = None  # numbers, dates, or text that sorts as time does: 2024-03-14

    def __post_init__(self) -> None:
        if (self.arm is None) == (self.features is None):
            raise ValueError(
                f"one of arm and features must be given, got {self.arm!r} and {self.features!r}"
            )
        if self.eligible is not None and self.arm is None:
            raise ValueError(f"eligible must come with arm, got {self.eligible!r} with features")
        if self.features is not None and not isinstance(self.features, str):
            object.__setattr__(self, "features", tuple(self.features))
            if not self.features:
                raise ValueError("features must name at least one column, got none")
        for name in self.names:
            if not isinstance(name, str):
                raise ValueError(f"columns must be named by strings, got {name!r}")

    @property
    def names(self) -> list[str]:
        """All columns that are read, each once."""
        given = [getattr(self, field.name) for field in fields(self)]
        flat = [n for part in given for n in (part if isinstance(part, tuple) else (part,))]
        return list(dict.fromkeys(name for name in flat if name is not None))


class Names:
    """The names met so far, in order of first appearance: a batch's numbers are places in them."""

    def __init__(self, arms: Sequence[Name] | None) -> None:
        self.tasks: list[Name] = []
        self.arms: list[Name] = list(arms or ())
        self.populations: list[Name] = []
        self.population = np.empty(0, np.intp)  # that of each task


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some successive rows of a log as plain arrays; None for what was not logged."""

    first_row: int
    tasks: Indices  # (E,)
    features: Matrix | Indices  # (E, d), or arms (E,)
    rewards: Vector  # (E,)
    populations: Indices  # (E,), all zero if there is no such column
    decisions: NDArray[Any] | None  # (E,) as logged
    propensities: Vector | None  # (E,) in (0, 1]
    eligible: Mask | None  # (E, arms met so far)
    times: NDArray[Any] | None  # (E,) as logged
    names: Names  # shared by all batches of a pass


@dataclass(frozen=True, slots=True, eq=False)
class LogSums:
    """All that learning needs of a log, whatever its length."""

    sums: TaskSums
    tasks: tuple[Name, ...]  # the names of the rows of `sums`
    arms: tuple[Name, ...] | None  # the names of its arms, if armed
    populations: tuple[Name, ...]  # ("all",) if the log has no such column
    population: Indices  # that of each task, a place in `populations`, (tasks,)

    @property
    def num_rows(self) -> int:
        """The number of events."""
        return int(self.sums.n.sum())
