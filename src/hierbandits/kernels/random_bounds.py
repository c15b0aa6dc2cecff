"""Bounds whose widths are drawn: the highest of them, and how probable that was.

The less an arm is known beside the event's best-known arm, the wider its bound is on average,

    centre^2 = width^2 + 2 growth log(std / least std),

because the best-known arm was mostly played often: what is known of it tells how long the task has
been going on.  A width is uniform within the jitter of its centre.
"""

from math import erf, log, sqrt

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.types import Indices, Matrix, Vector

FARTHEST = 1000.0
"""How many times the least standard deviation another is taken to be at most."""

NODES = 32
"""Of the quadrature, which is exact between two ends of intervals for up to 64 arms there."""

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(NODES)


@inlined
def centre(std: float, least: float, width: float, growth: float) -> float:
    """The mean of an arm's widths."""
    if growth == 0.0 or std <= least:
        return width
    ratio = std / least if std < FARTHEST * least else FARTHEST
    return sqrt(width * width + 2.0 * growth * log(ratio))


@compiled
def bound_ends(
    mean: Vector, std: Vector, offset: Indices, width: float, growth: float, jitter: float
) -> Matrix:
    """The lowest and the highest bound of each arm, (2, arms); see `chances` for the offsets."""
    ends = np.empty((2, mean.size))
    for e in range(offset.size - 1):
        least = np.inf
        for k in range(offset[e], offset[e + 1]):
            least = min(least, std[k])
        for k in range(offset[e], offset[e + 1]):
            own = centre(std[k], least, width, growth)
            ends[0, k] = mean[k] + (own - jitter) * std[k]
            ends[1, k] = mean[k] + (own + jitter) * std[k]
    return ends


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
    growth: float,
    jitter: float,
) -> int:
    """The arm of highest mean plus width standard deviations; ties are broken at random."""
    size = mean.size
    bounds, least = np.empty(size), np.inf
    for k in range(size):
        bounds[k] = sqrt(within_var[k] + shared_var[k])
        least = min(least, bounds[k])
    best, ties = 0, 0
    for k in range(size):
        own = centre(bounds[k], least, width, growth) + jitter * even(normals[first + k])
        bounds[k] = mean[k] + own * bounds[k]
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
def below(ends: Matrix, first: int, stop: int, own: int, x: float) -> float:
    """The probability that all bounds of an event are below x, its own apart."""
    chance = 1.0
    for b in range(first, stop):
        if b != own and x < ends[1, b]:
            if x <= ends[0, b]:
                return 0.0
            chance *= (x - ends[0, b]) / (ends[1, b] - ends[0, b])
    return chance


@inlined
def surely(ends: Matrix, first: int, stop: int, own: int) -> float:
    """The probability that a bound is highest that has one value alone; equal ones share."""
    ties, x = 1, ends[0, own]
    for b in range(first, stop):
        if b != own and ends[0, b] == ends[1, b]:
            if ends[0, b] > x:
                return 0.0
            if ends[0, b] == x:
                ties += 1
    return below(ends, first, stop, own, x) / ties


@compiled
def chances(
    ends: Matrix,  # the lowest and the highest bound that each arm may have, (2, arms)
    offset: Indices,  # event e has the arms from offset[e] to offset[e + 1]
    events: Indices,
    places: Indices,
    out: Vector,
) -> None:
    """The probability that the bound of the arm at a place of an event is the highest, (n,)."""
    for q in range(events.size):
        first, stop = offset[events[q]], offset[events[q] + 1]
        own = first + places[q]
        low, high = ends[0, own], ends[1, own]
        if low == high:
            out[q] = surely(ends, first, stop, own)
            continue
        left = low
        for b in range(first, stop):
            left = max(left, ends[0, b])
        total = 0.0
        while left < high:
            right = high
            for b in range(first, stop):
                if left < ends[1, b] < right:
                    right = ends[1, b]
            half, middle = (right - left) / 2.0, (right + left) / 2.0
            for i in range(NODES):
                chance = below(ends, first, stop, own, middle + half * _POINTS[i])
                total += half * _WEIGHTS[i] * chance
            left = right
        out[q] = total / (high - low)
