"""What a log is made of: its columns, the names met in it, its batches and its sums."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from hierbandits.logs.names import Names
from hierbandits.types import Indices, Mask, Matrix, Vector


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
