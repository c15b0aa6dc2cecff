"""A sample of a log's rows that does not depend on how they come in batches."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.checks import index_array
from hierbandits.keyed_random import Stream
from hierbandits.types import Vector

_MOST_ROWS = 2**62


class RowSample:
    """Keeps the rows with the smallest random numbers: a uniform sample of at most `size` rows."""

    def __init__(self, stream: Stream, size: int) -> None:
        self._stream, self._size = stream, size
        self._keys: Vector = np.empty(0)
        self.values: NDArray[Any] | None = None  # (at most size, ...), None before the first row

    def add(self, first_row: int, values: NDArray[Any]) -> None:
        """Add some successive rows, (E, ...)."""
        first = int(index_array("first_row", [first_row], _MOST_ROWS, "rows at most")[0])
        keys = self._stream.of_rows(np.arange(first, first + len(values)))
        if self._keys.size == self._size:
            chosen = np.flatnonzero(keys < self._keys[-1])
            keys, values = keys[chosen], values[chosen]
        every = np.append(self._keys, keys)
        rows = values if self.values is None else np.concatenate([self.values, values])
        kept = np.argsort(every, kind="stable")[: self._size]
        self._keys, self.values = every[kept], rows[kept]
