"""Checks of arguments, which every public function makes before it changes anything."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierbandits.compiler import compiled
from hierbandits.types import Indices, Vector

_FLOAT, _INDEX = np.dtype(np.float64), np.dtype(np.intp)

LARGEST = 1e60
"""Larger magnitudes are refused (and scales below its inverse): their squares would overflow."""


def real_array(
    name: str,
    value: ArrayLike,
    shape: tuple[int | None, ...],
    why: str = "",
    largest: float = LARGEST,
) -> Vector:
    """`value` as floats that a kernel can take; None in `shape` leaves an axis free."""
    array = _for_kernels(name, value, _FLOAT, "biuf", "numbers")
    if array.shape != shape:
        _check_shape(name, array, shape, why)
    bad = first_outside(array, largest)
    if bad >= 0:
        where = [int(i) for i in np.unravel_index(bad, array.shape)]
        at = f" at {where}" if where else ""
        raise ValueError(
            f"{name} must be finite and at most {largest:g} in size, got {array.flat[bad]}{at}"
        )
    return array


def state_array(name: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Vector:
    """`value` as floats that were computed, not given: finite is enough."""
    return real_array(name, value, shape, largest=np.finfo(float).max)


def index_array(name: str, value: ArrayLike, stop: int, what: str) -> Indices:
    """`value` as indices below `stop`, the number of `what`, that a kernel can take."""
    array = _for_kernels(name, value, _INDEX, "iu", "integers")
    if array.ndim != 1:
        _check_shape(name, array, (None,), "")
    bad = first_not_below(array, stop)
    if bad >= 0:
        raise ValueError(
            f"{name} must be in [0, {stop}), got {array[bad]}: there are {stop} {what}"
        )
    return array


def positive(name: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Vector:
    """`value` as positive floats, far enough from zero for their squares to count."""
    array = real_array(name, value, shape)
    if array.size and array.min() < 1 / LARGEST:
        raise ValueError(f"{name} must be positive, got {array.min()}")
    return array


def count(name: str, value: int, least: int = 0) -> int:
    """`value` as a whole number, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def _for_kernels(
    name: str, value: ArrayLike, dtype: np.dtype[Any], kinds: str, what: str
) -> NDArray[Any]:
    """Contiguous and writable, since kernels are compiled for one kind of array alone."""
    try:
        raw = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of {what}: {error}") from None
    if raw.dtype == dtype:
        array = raw
    elif raw.dtype.kind in kinds or raw.size == 0:
        array = raw.astype(dtype)
    else:
        raise ValueError(f"{name} must be {what}, got {value!r:.80}")
    flags = array.flags
    return array if flags.c_contiguous and flags.writeable else array.copy(order="C")


def _check_shape(name: str, array: NDArray[Any], shape: tuple[int | None, ...], why: str) -> None:
    right = array.ndim == len(shape)
    for have, want in zip(array.shape, shape, strict=False):
        right = right and (want is None or have == want)
    if not right:
        sizes = ["any" if size is None else str(size) for size in shape]
        text = ", ".join(sizes) + ("," if len(sizes) == 1 else "")
        raise ValueError(f"{name} must have shape ({text}){why}, got {array.shape}")


@compiled
def first_outside(values: NDArray[Any], largest: float) -> int:
    """The flat position of the first value that is not within +-largest (or NaN), or -1."""
    flat = values.reshape(-1)
    for i in range(flat.size):
        if not abs(flat[i]) <= largest:
            return i
    return -1


@compiled
def first_not_below(indices: NDArray[Any], stop: int) -> int:
    """The position of the first index outside [0, stop), or -1."""
    for i in range(indices.size):
        if indices[i] < 0 or indices[i] >= stop:
            return i
    return -1
