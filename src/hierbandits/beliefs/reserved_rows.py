"""An array whose rows grow in number where they lie, so that no event waits for a copy."""

import mmap
import platform
import sys
import weakref
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

_RESERVES = (1 << 37, 1 << 34, 1 << 31)  # bytes to ask for, in turn
_MOST = 1 << 45  # bytes that all arrays of a process may reserve: a quarter of its addresses
_SHARE = 64  # one array may have a part of what is left, so that many can have some
_NO_RESERVE = 0x4000  # Linux: take no memory into account before it is written to
_NUMBERS = count()
_HELD: dict[int, int] = {}  # bytes of each array: put in and taken out by any thread, each at once
_CAN_RESERVE = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")


class ReservedRows:
    """Addresses for very many rows, of which the system gives memory to those that are used.

    Where the system cannot do that, or its limits forbid it, a full array is copied to a larger
    one.
    """

    def __init__(self) -> None:
        self._all: NDArray[Any] = np.empty(0)

    def with_room(self, array: NDArray[Any], used: int, needed: int) -> NDArray[Any]:
        """`array` with at least `needed` rows, of which the first `used` are as they were.

        The first rows of an array are not reserved: tasks that are known at the start waste
        nothing, and may be all.
        """
        if needed <= len(array):
            return array
        if used == 0:
            return np.empty((needed, *array.shape[1:]), array.dtype)
        if self._all.ctypes.data != array.ctypes.data or needed > len(self._all):
            self._all = _reserved(needed, array)
            self._all[:used] = array[:used]
        return self._all[: needed + needed // 16]

    def reserve(self, array: NDArray[Any], *, copied: bool = True) -> NDArray[Any]:
        """An array of the same shape that can grow, a copy if `copied`."""
        if len(array) == 0:
            return array
        self._all = _reserved(len(array), array)
        if copied:
            self._all[: len(array)] = array
        return self._all[: len(array)]

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy or a pickle has nothing reserved."""
        return ReservedRows, ()


def _reserved(rows: int, like: NDArray[Any]) -> NDArray[Any]:
    """Rows of the same kind as those of an array, as many as there can be but at least `rows`."""
    row_bytes = like[:1].nbytes
    for size in _RESERVES if _CAN_RESERVE else ():
        number = size // row_bytes
        if number < 2 * rows:
            break
        if size > _left() // _SHARE:
            continue
        try:
            kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
            memory = mmap.mmap(-1, number * row_bytes, flags=kind)
        except OSError:
            continue
        place = next(_NUMBERS)
        weakref.finalize(memory, _HELD.pop, place, None)
        _HELD[place] = size
        return np.frombuffer(memory, like.dtype).reshape(number, *like.shape[1:])
    return np.empty((rows + rows // 2, *like.shape[1:]), like.dtype)


def _left() -> int:
    """The bytes that may still be reserved: others need addresses too, and may have a limit."""
    import resource  # not on all systems

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    most = _MOST if limit == resource.RLIM_INFINITY else min(_MOST, limit // 4)
    return most - sum(list(_HELD.values()))
