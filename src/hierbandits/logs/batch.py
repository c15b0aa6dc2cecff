"""Some successive rows of a log, as plain arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.logs.left_out import LeftOut
from hierbandits.logs.names import Names
from hierbandits.types import Indices, Mask, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some successive rows of a log as plain arrays; None for what was not logged."""

    first_row: int  # how many rows were read before these
    tasks: Indices  # (E,)
    features: Matrix | Indices  # (E, d), or arms (E,); an encoder makes (E, d) of arms
    rewards: Vector  # (E,)
    populations: Indices  # (E,), all zero if there is no such column
    decisions: NDArray[Any] | None  # (E,) as logged
    propensities: Vector | None  # (E,) in (0, 1]
    eligible: Mask | None  # (E, arms met so far)
    times: NDArray[Any] | None  # (E,) numbers or dates, which can be compared
    names: Names  # shared by all batches of a pass
    rows: Indices  # (E,) their numbers in the source, where others may be left out
    left_out: LeftOut  # shared too: the rows that were left out so far
    played: Indices | None = None  # (E,) the arms, where features are an encoder's
    cells: Matrix | None = None  # (E, columns) the contexts, as the encoder's `cells` are

    @property
    def num_rows(self) -> int:
        """How many rows there are, E."""
        return self.tasks.size

    @property
    def numbers(self) -> Indices:
        """Each row's number among those that are read, counted from 0, (E,)."""
        return np.arange(self.first_row, self.first_row + self.num_rows)

    @property
    def is_armed(self) -> bool:
        """Whether features are the numbers of arms."""
        return self.features.ndim == 1

    @property
    def arms(self) -> Indices | None:
        """The numbers of the arms played, (E,); None if the log names no arms."""
        return np.asarray(self.features, np.intp) if self.is_armed else self.played

    @property
    def dim(self) -> int:
        """The number of features, or of the arms met so far."""
        return len(self.names.arms) if self.is_armed else self.features.shape[1]
