"""Checks of arguments.  Every public function makes them before it changes anything."""

import os
from collections.abc import Iterable
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from hierbandits.compiler import compiled
from hierbandits.types import Indices, Name, Vector

Kind = TypeVar("Kind")

_FLOAT, _INDEX = np.dtype(np.float64), np.dtype(np.intp)

LARGEST = 1e60
"""Numbers above this are refused, and so are scales below 1 / LARGEST.

Their squares could overflow.
"""


def real_array(
    name: str,
    value: ArrayLike,
    shape: tuple[int | None, ...],
    why: str = "",
    largest: float = LARGEST,
) -> Vector:
    """Check that `value` holds finite numbers in this shape; returns floats for kernels.

    None in `shape` stands for any size, and `why` follows the shape in the message.  `value` itself
    is returned if kernels can take it as it is.
    """
    array = _for_kernels(name, value, _FLOAT, "biuf", "numbers")
    if array.shape != shape:
        _check_shape(name, array, shape, why)
    bad = first_outside(array, largest)
    if bad >= 0:
        place = [int(i) for i in np.unravel_index(bad, array.shape)]
        where = f" at {place}" if place else ""
        if largest < LARGEST:
            where += ": larger ones would leave no digits to the model's other numbers"
        raise ValueError(
            f"{name} must be finite and at most {largest:g} in size, got {array.flat[bad]}{where}"
        )
    return array


def state_array(name: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Vector:
    """The same check for numbers that were computed, not given: of any size, if they are finite."""
    return real_array(name, value, shape, largest=np.finfo(float).max)


def float_array(name: str, value: ArrayLike) -> Vector:
    """Check that `value` holds numbers, of any shape and size; returns floats for kernels."""
    return _for_kernels(name, value, _FLOAT, "biuf", "numbers")


def state_copy(name: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Vector:
    """`state_array` in memory of its own."""
    array = state_array(name, value, shape)
    return array.copy() if np.may_share_memory(array, np.asarray(value)) else array


def index_array(name: str, value: ArrayLike, stop: int, what: str) -> Indices:
    """Check that `value` is a row of indices of `what`, of which there are `stop`."""
    array = _for_kernels(name, value, _INDEX, "iu", "integers")
    if array.ndim != 1:
        _check_shape(name, array, (None,), "")
    bad = first_index_outside(array, stop)
    if bad >= 0:
        raise ValueError(
            f"{name} must be in [0, {stop}), got {array[bad]}: there are {stop} {what}"
        )
    return array


def positive(name: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Vector:
    """Check that `value` holds positive numbers, large enough that squares do not vanish."""
    array = real_array(name, value, shape)
    if array.size and array.min() < 1 / LARGEST:
        least = f", at least {1 / LARGEST:g}" if array.min() > 0 else ""
        raise ValueError(f"{name} must be positive{least}, got {array.min()}")
    return array


def checked_time(time: ArrayLike | None, nodes: Indices) -> Vector | None:
    """The time of each event, checked; None if events have none."""
    return None if time is None else real_array("time", time, nodes.shape, " to match tasks")


def count(name: str, value: int, least: int = 0) -> int:
    """Check that `value` is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def boolean(name: str, value: bool) -> bool:
    """Check that `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be a boolean, got {value!r:.80}")
    return bool(value)


def file_path(name: str, value: str | PathLike[str]) -> Path:
    """Check that `value` is the path of a file or a folder."""
    if not isinstance(value, str | PathLike):
        raise ValueError(f"{name} must be a path, got {value!r:.80}")
    text = os.fspath(value)
    if not isinstance(text, str) or "\0" in text:
        raise ValueError(f"{name} must be a path, got {value!r:.80}")
    return Path(text)


def instance(name: str, value: Kind, kind: type[Kind]) -> Kind:
    """Check that `value` is of this class."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be of class {kind.__name__}, got {value!r:.80}")
    return value


def generator(name: str, value: Generator) -> Generator:
    """Check that `value` is a numpy Generator."""
    if not isinstance(value, Generator):
        raise ValueError(f"{name} must be a numpy Generator, got {value!r:.80}")
    return value


def probability(name: str, value: float) -> float:
    """Check that `value` is a probability, neither 0 nor 1."""
    if not isinstance(value, Real) or not 0 < value < 1:
        raise ValueError(f"{name} must be in (0, 1), got {value!r:.80}")
    return float(value)


def checked_names(name: str, value: Any) -> list[Name]:
    """Check that `value` holds names: strings or integers, all different."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"{name} must be several names, got {value!r:.80}")
    names = []
    for one in value:
        known = plain_name(one)
        if known is None:
            raise ValueError(f"{name} must be named by strings or integers, got {one!r:.80}")
        names.append(known)
    if len(set(names)) < len(names):
        raise ValueError(f"{name} must have distinct names, got {names!r:.80}")
    return names


def plain_name(value: Any) -> Name | None:
    """A name as plain Python has it: a string that is valid text, or an integer; else None."""
    name = value.item() if isinstance(value, np.generic) else value
    if isinstance(name, str):
        valid = name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)
        return str(name) if valid else None
    return int(name) if isinstance(name, int) and not isinstance(name, bool) else None


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A copy of an array that cannot be changed."""
    own = array.copy()
    own.flags.writeable = False
    return own


def reduce_frozen(value: Any) -> tuple[Any, tuple[type, tuple[Any, ...]]]:
    """`__reduce__` of an immutable value with slots: pickles and copies cannot be changed either.

    A `__setstate__` would be lost: Python 3.11.3 and older put the dataclass's own in its place.
    """
    return restored, (type(value), tuple(getattr(value, name) for name in value.__slots__))


def restored(kind: type, parts: Iterable[Any]) -> Any:
    """A value of a class from what is in its slots; its arrays cannot be changed."""
    value: Any = object.__new__(kind)
    for name, part in zip(kind.__slots__, parts, strict=True):  # type: ignore[attr-defined]
        for array in part if isinstance(part, tuple) else (part,):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        object.__setattr__(value, name, part)
    return value


def one_of(name: str, value: Any, known: Iterable[str]) -> str:
    """Check that `value` is one of these names."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name} must be one of {', '.join(names)}, got {value!r:.80}")
    return names[names.index(value)]


def check_unmasked(name: str, value: Any) -> None:
    """Raise an error if `value` is a masked array, or holds some, of which an entry is masked."""
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise ValueError(f"{name} must not have masked entries, got {value!r:.80}")
    elif isinstance(value, list | tuple):
        for one in value:
            if type(one) is not float and type(one) is not int:
                check_unmasked(name, one)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in an array that cannot be written."""
    view = array.view()
    view.flags.writeable = False
    return view


def _for_kernels(
    name: str, value: ArrayLike, dtype: np.dtype[Any], kinds: str, what: str
) -> NDArray[Any]:
    """An array of this type, contiguous, aligned and writable: kernels are compiled for no other.

    `kinds` are numpy's letters for the types that may be converted, and `what` their name.
    """
    if type(value) is not np.ndarray and type(value) is not float:
        check_unmasked(name, value)
    try:
        raw = np.asarray(value)
    except (ValueError, TypeError):
        raise ValueError(
            f"{name} must be {what} in rows of one length, got {value!r:.80}"
        ) from None
    if raw.dtype == dtype:
        array = raw
    elif raw.dtype.kind in kinds or raw.size == 0:
        array = raw.astype(dtype)
    else:
        raise ValueError(f"{name} must be {what}, got {value!r:.80}")
    return array if array.flags.carray else array.copy(order="C")


def _check_shape(name: str, array: NDArray[Any], shape: tuple[int | None, ...], why: str) -> None:
    matches = array.ndim == len(shape)
    for size, expected in zip(array.shape, shape, strict=False):
        matches = matches and (expected is None or size == expected)
    if not matches:
        sizes = ["any" if size is None else str(size) for size in shape]
        text = ", ".join(sizes) + ("," if len(sizes) == 1 else "")
        raise ValueError(f"{name} must have shape ({text}){why}, got {array.shape}")


@compiled
def first_outside(values: NDArray[Any], largest: float) -> int:
    """The flat position of the first value beyond +-largest, or NaN; -1 if there is none."""
    flat = values.reshape(-1)
    for i in range(flat.size):
        if not abs(flat[i]) <= largest:
            return i
    return -1


@compiled
def first_index_outside(indices: NDArray[Any], stop: int) -> int:
    """The position of the first index outside [0, stop); -1 if there is none."""
    for i in range(indices.size):
        if indices[i] < 0 or indices[i] >= stop:
            return i
    return -1
