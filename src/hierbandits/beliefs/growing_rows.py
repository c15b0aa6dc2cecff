"""Arrays with a row for each of a growing number of tasks, which no single event waits for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.types import Indices

ROWS = 64
"""How many rows move to larger arrays with each event."""

Arrays = tuple[NDArray[Any], ...]


class GrowingRows:
    """Arrays with as many rows each; when they are full, rows move to larger ones by and by.

    Rows before `_moved` are in the new arrays already.  Those after it are in the old ones still,
    if these have them.  New rows are zero.
    """

    def __init__(self, *arrays: NDArray[Any]) -> None:
        self._arrays: Arrays = arrays
        self._old: Arrays = ()
        self._moved = 0

    def __len__(self) -> int:
        """The number of rows, spare ones included."""
        return len(self._arrays[0])

    @property
    def is_moving(self) -> bool:
        """Whether some rows are still in the old arrays."""
        return bool(self._old)

    def make_room(self, number: int) -> None:
        """Let there be at least so many rows; full arrays grow by half."""
        have = len(self._arrays[0])
        if number > have:
            self._old, self._moved = self.settled(), 0
            capacity = max(number, have + have // 2)
            self._arrays = tuple(np.zeros((capacity, *old.shape[1:])) for old in self._old)
            self._move(0)

    def place(self, row: int) -> Arrays:
        """The arrays that hold this row, until the next call; a few rows move on."""
        if row >= len(self._arrays[0]):
            self.make_room(row + 1)
        if self._old:
            self._move(ROWS)
            if self._old and self._moved <= row < len(self._old[0]):
                return self._old
        return self._arrays

    def rows(self, rows: Indices) -> Arrays:
        """Copies of some rows, wherever they are."""
        return tuple(self.part(number, rows) for number in range(len(self._arrays)))

    def part(self, number: int, rows: Indices) -> NDArray[Any]:
        """A copy of some rows of the array of this number."""
        found: NDArray[Any] = self._arrays[number][rows]
        if self._old:
            stay = np.flatnonzero((rows >= self._moved) & (rows < len(self._old[0])))
            found[stay] = self._old[number][rows[stay]]
        return found

    def settled(self) -> Arrays:
        """All rows in one place."""
        if self._old:
            self._move(len(self._old[0]))
        return self._arrays

    def _move(self, number: int) -> None:
        stop = min(self._moved + number, len(self._old[0]))
        for new, old in zip(self._arrays, self._old, strict=True):
            new[self._moved : stop] = old[self._moved : stop]
        self._moved = stop
        if stop == len(self._old[0]):
            self._old = ()
