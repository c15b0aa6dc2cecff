"""Checks and sums of whole numbers, in one pass over them."""

from math import lgamma, log

import numpy as np

from hierbandits.compiler import compiled
from hierbandits.types import Vector

_LOG_FACTORIALS = np.array([lgamma(k + 1.0) for k in range(256)])


@compiled
def all_whole(values: Vector, most: float) -> bool:
    """Whether all are whole numbers from 0 to `most`."""
    bad = 0
    for value in values:
        bad += not (0.0 <= value <= most and value == np.floor(value))
    return bad == 0


@compiled
def all_ones(values: Vector) -> bool:
    """Whether all are 1."""
    others = 0
    for value in values:
        others += value != 1.0
    return others == 0


@compiled
def log_orders(counts: Vector, exposure: Vector) -> Vector:
    """The log of exposure^y / y! for each count y."""
    out = np.empty(counts.size)
    for e in range(counts.size):
        y = counts[e]
        is_known = 0.0 <= y < _LOG_FACTORIALS.size
        orders = _LOG_FACTORIALS[int(y)] if is_known else lgamma(y + 1.0)
        out[e] = -orders if exposure[e] == 1.0 else y * log(exposure[e]) - orders
    return out
