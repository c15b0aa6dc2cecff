"""Which rows of a log are held out: a function of the row's number and a seed alone."""

from dataclasses import dataclass

import numpy as np

from hierbandits.checks import count
from hierbandits.keyed_random import Stream
from hierbandits.types import Mask


@dataclass(frozen=True, slots=True)
class Split:
    """Holds out a share of the rows, the same on every pass and for any size of batches."""

    share: float  # 0 holds out nothing
    seed: int

    def __post_init__(self) -> None:
        count("seed", self.seed)
        sound = isinstance(self.share, int | float) and 0 <= self.share < 1
        if isinstance(self.share, bool) or not sound:
            raise ValueError(f"held_out must be a share of the rows in [0, 1), got {self.share!r}")

    def held(self, first_row: int, size: int) -> Mask:
        """Whether each of these successive rows is held out, (size,)."""
        rows = np.arange(first_row, first_row + size)
        return Stream(self.seed, "held-out rows").of_rows(rows) < self.share
