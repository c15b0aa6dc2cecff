"""Bounds that are uniform in intervals: the highest of them, and how probable that was."""

from math import erf, sqrt

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.types import Indices, Vector

NODES = 32
"""Of the quadrature, which is exact between two ends of intervals for up to 64 arms there."""

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(NODES)


@inlined
def even(normal: float) -> float:
    """A uniform number in [-1, 1], made of a standard normal."""
    return erf(normal / sqrt(2.0))


@compiled
def highest(
    mean: Vector,
    within_var: Vector,
    shared_var: Vector,
    normals: Vector,
    first: int,  # where K + 1 normals begin: one for each arm, and one for ties
    width: float,
    jitter: float,
) -> int:
    """The arm of highest mean plus width standard deviations; ties are broken at random.

    Each arm's width is uniform within the jitter of `width`.
    """
    size = mean.size
    bounds = np.empty(size)
    best, ties = 0, 0
    for k in range(size):
        own = width + jitter * even(normals[first + k])
        bounds[k] = mean[k] + own * sqrt(within_var[k] + shared_var[k])
        if k == 0 or bounds[k] > bounds[best]:
            best, ties = k, 1
        elif bounds[k] == bounds[best]:
            ties += 1
    if ties > 1:
        skip = int((1.0 + even(normals[first + size])) / 2.0 * ties)
        for k in range(best + 1, size):
            if skip > 0 and bounds[k] == bounds[best]:
                best, skip = k, skip - 1
    return best


@inlined
def below(low: Vector, high: Vector, first: int, stop: int, own: int, x: float) -> float:
    """The probability that all bounds of an event are below x, its own apart."""
    chance = 1.0
    for b in range(first, stop):
        if b != own and x < high[b]:
            if x <= low[b]:
                return 0.0
            chance *= (x - low[b]) / (high[b] - low[b])
    return chance


@inlined
def surely(low: Vector, high: Vector, first: int, stop: int, own: int) -> float:
    """The probability that a bound is highest that has one value alone; equal ones share."""
    ties = 1
    for b in range(first, stop):
        if b != own and low[b] == high[b]:
            if low[b] > low[own]:
                return 0.0
            if low[b] == low[own]:
                ties += 1
    return below(low, high, first, stop, own, low[own]) / ties


@compiled
def chances(
    low: Vector,
    high: Vector,
    offset: Indices,  # event e has the bounds from offset[e] to offset[e + 1]
    events: Indices,
    places: Indices,
    out: Vector,
) -> None:
    """The probability that the bound at a place of an event is the event's highest, (n,).

    Bounds are independent and uniform from low to high.
    """
    for q in range(events.size):
        first, stop = offset[events[q]], offset[events[q] + 1]
        own = first + places[q]
        if low[own] == high[own]:
            out[q] = surely(low, high, first, stop, own)
            continue
        left = low[own]
        for b in range(first, stop):
            left = max(left, low[b])
        total = 0.0
        while left < high[own]:
            right = high[own]
            for b in range(first, stop):
                if left < high[b] < right:
                    right = high[b]
            half, middle = (right - left) / 2.0, (right + left) / 2.0
            for i in range(NODES):
                chance = below(low, high, first, stop, own, middle + half * _POINTS[i])
                total += half * _WEIGHTS[i] * chance
            left = right
        out[q] = total / (high[own] - low[own])
