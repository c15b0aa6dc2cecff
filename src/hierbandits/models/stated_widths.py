"""Widths as people state them: one number for all coordinates, or one for each."""

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.checks import LARGEST, real_array
from hierbandits.types import Vector


def per_coordinate(
    name: str, value: ArrayLike, dim: int, count_name: str, largest: float = LARGEST
) -> Vector:
    """One number for all coordinates, or one for each."""
    if isinstance(value, int | float | np.number) or getattr(value, "shape", None) == ():
        return np.full(dim, real_array(name, value, (), largest=largest))
    return real_array(name, value, (dim,), f" to match {count_name}", largest)


def variances_of(stds: dict[str, ArrayLike], dim: int, count_name: str) -> dict[str, Vector]:
    """The squares of widths, checked."""
    variances = {}
    for name, value in stds.items():
        std = per_coordinate(name, value, dim, count_name, largest=LARGEST**0.5)
        if (std < 0).any():
            raise ValueError(f"{name} must not be negative, got {std.min()}")
        variances[name] = std**2
    return variances


def usual(values: Vector) -> float:
    """The number that all arms share, or else their mean."""
    return float(values[0] if (values == values[0]).all() else values.mean())
