"""Compiled checks of arguments, which cost less than a numpy reduction on small batches."""

from typing import Any

from numpy.typing import NDArray

from hierbandits.kernels.compiler import compiled


@compiled
def first_outside(values: NDArray[Any], largest: float) -> int:
    """The flat position of the first value that is not within +-largest (or NaN), or -1."""
    flat = values.reshape(-1)
    for i in range(flat.size):
        if not abs(flat[i]) <= largest:
            return i
    return -1


@compiled
def first_with_children(nodes: NDArray[Any], level: NDArray[Any], level_below: NDArray[Any]) -> int:
    """The position of the first node whose level is above another, or -1."""
    for i in range(nodes.size):
        if level_below[level[nodes[i]]] >= 0:
            return i
    return -1


@compiled
def first_not_below(indices: NDArray[Any], stop: int) -> int:
    """The position of the first index outside [0, stop), or -1."""
    for i in range(indices.size):
        if indices[i] < 0 or indices[i] >= stop:
            return i
    return -1
