"""Some rows of a log with arms, once all its names are known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.types import Indices, Mask, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows of a log with arms; tasks and arms are numbers, the same in every pass."""

    numbers: Indices  # (E,) the row in the log
    tasks: Indices  # (E,)
    arms: Indices  # (E,)
    rewards: Vector  # (E,)
    propensities: Vector | None  # (E,)
    eligible: Mask | None  # (E, K); None if all arms are
    times: NDArray[Any] | None  # (E,)
    cells: Matrix | None = None  # (E, columns) of contexts; None if there are none

    @property
    def size(self) -> int:
        """How many rows there are, E."""
        return self.tasks.size

    def only(self, chosen: Mask | Indices | slice) -> "Rows":
        """The chosen rows alone."""

        def part(values: Any) -> Any:
            return None if values is None else values[chosen]

        return Rows(*(part(getattr(self, name)) for name in Rows.__slots__))

    def then(self, other: "Rows") -> "Rows":
        """These rows and the others after them."""

        def joined(one: Any, two: Any) -> Any:
            return None if one is None else np.concatenate([one, two])

        return Rows(*(joined(getattr(self, n), getattr(other, n)) for n in Rows.__slots__))
