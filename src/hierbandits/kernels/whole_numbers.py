"""Checks and sums of whole numbers, in one pass over them."""

from math import lgamma, log

import numpy as np

from hierbandits.compiler import compiled
from hierbandits.types import Vector

_LOG_FACTORIALS = np.array([lgamma(k + 1.0) for k in range(256)])


@compiled
def all_single_counts(values: Vector, exposure: Vector, most: float) -> bool:
    """Whether all are whole numbers from 0 to `most`, and each is of an exposure of 1."""
    if exposure.size != values.size:
        return False
    bad = 0
    for e in range(values.size):  # without branches, so that a processor looks at several at once
        value = values[e]
        is_whole = (value >= 0.0) & (value <= most) & (value == np.floor(value))
        bad += 0 if is_whole & (exposure[e] == 1.0) else 1
    return bad == 0


@compiled
def log_orders(counts: Vector, exposure: Vector) -> Vector:
    """The log of exposure^y / y! for each count y."""
    out, others = np.empty(counts.size), 0
    for e in range(counts.size):  # without branches, as above
        y = counts[e]
        is_known = (y >= 0.0) & (y < _LOG_FACTORIALS.size)
        place = np.uintp(y if is_known else 0.0)  # unsigned: none counts from the end
        out[e] = -_LOG_FACTORIALS[place]
        others += 0 if is_known & (exposure[e] == 1.0) else 1
    for e in range(counts.size if others > 0 else 0):
        y = counts[e]
        if not 0.0 <= y < _LOG_FACTORIALS.size:
            out[e] = -lgamma(y + 1.0)
        out[e] += y * log(exposure[e])
    return out
