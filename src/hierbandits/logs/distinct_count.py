"""How many different cells a column has, in little memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 1 << 14


class DistinctCount:
    """Counts different hashes: exactly up to SIZE, and within about a percent beyond.

    Keeps the SIZE smallest hashes.  If the largest of them is the share q of all 64-bit numbers,
    there are about SIZE / q of them.
    """

    def __init__(self) -> None:
        self._least: NDArray[np.uint64] = np.empty(0, np.uint64)

    def add(self, hashes: NDArray[Any]) -> None:
        """Add the hashes of some cells."""
        if self._least.size == SIZE:
            hashes = hashes[hashes < self._least[-1]]
        if hashes.size:
            self._least = np.unique(np.append(self._least, hashes))[:SIZE]

    @property
    def is_exact(self) -> bool:
        """Whether nothing was left out of the count."""
        return self._least.size < SIZE

    @property
    def count(self) -> int:
        """How many different hashes there are, or nearly."""
        if self.is_exact:
            return int(self._least.size)
        return round((SIZE - 1) / (float(self._least[-1]) / 2.0**64))
