"""Bounds whose widths are drawn: the highest of them, and how probable that was.

A width is uniform within the jitter of its centre.  Rarely, with probability RARE, it is instead
uniform from there up to TAIL jitters above the centre, so that no arm that could be best is left
alone for ever.
"""

from math import erf, sqrt

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.types import Indices, Matrix, Vector

RARE, TAIL = 0.002, 5.0

NODES = 32
"""Of the quadrature, which is exact between two ends of intervals for up to 64 arms there."""

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(NODES)


@inlined
def jitters(uniform: float) -> float:
    """How many jitters a width is off its centre, made of a uniform number in [0, 1]."""
    if uniform < RARE:
        return 1.0 + (TAIL - 1.0) * uniform / RARE
    return 2.0 * (uniform - RARE) / (1.0 - RARE) - 1.0


@inlined
def even(normal: float) -> float:
    """A uniform number in [0, 1], made of a standard normal."""
    return (1.0 + erf(normal / sqrt(2.0))) / 2.0


@compiled
def drawn_widths(uniforms: Vector, width: float, jitter: float) -> Vector:
    """A width for each uniform number."""
    widths = np.empty(uniforms.size)
    for k in range(uniforms.size):
        widths[k] = width + jitter * jitters(uniforms[k])
    return widths


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

    Each arm draws its own width; with a jitter of 0 they are all the same.
    """
    size = mean.size
    bounds = np.empty(size)
    best, ties = 0, 0
    for k in range(size):
        own = width + jitter * jitters(even(normals[first + k]))
        bounds[k] = mean[k] + own * sqrt(within_var[k] + shared_var[k])
        if k == 0 or bounds[k] > bounds[best]:
            best, ties = k, 1
        elif bounds[k] == bounds[best]:
            ties += 1
    if ties > 1:
        skip = int(even(normals[first + size]) * ties)
        for k in range(best + 1, size):
            if skip > 0 and bounds[k] == bounds[best]:
                best, skip = k, skip - 1
    return best


@inlined
def below(bounds: Matrix, first: int, stop: int, own: int, x: float) -> float:
    """The probability that all bounds of an event are below x, its own apart."""
    chance = 1.0
    for b in range(first, stop):
        if b != own and x < bounds[2, b]:
            if x <= bounds[0, b]:
                return 0.0
            if x < bounds[1, b]:
                reach = (x - bounds[0, b]) / (bounds[1, b] - bounds[0, b])
                chance *= (1.0 - RARE) * reach
            else:
                chance *= 1.0 - RARE * (bounds[2, b] - x) / (bounds[2, b] - bounds[1, b])
    return chance


@inlined
def surely(bounds: Matrix, first: int, stop: int, own: int) -> float:
    """The probability that a bound is highest that has one value alone; equal ones share."""
    ties, x = 1, bounds[0, own]
    for b in range(first, stop):
        if b != own and bounds[0, b] == bounds[2, b]:
            if bounds[0, b] > x:
                return 0.0
            if bounds[0, b] == x:
                ties += 1
    return below(bounds, first, stop, own, x) / ties


@compiled
def chances(
    bounds: Matrix,  # the lowest of each arm, the highest of its usual ones and of its rare ones
    offset: Indices,  # event e has the arms from offset[e] to offset[e + 1]
    events: Indices,
    places: Indices,
    out: Vector,
) -> None:
    """The probability that the bound of the arm at a place of an event is the highest, (n,)."""
    for q in range(events.size):
        first, stop = offset[events[q]], offset[events[q] + 1]
        own = first + places[q]
        low, middle, high = bounds[0, own], bounds[1, own], bounds[2, own]
        if not low < middle < high:  # a bound that is known, or nearly
            out[q] = surely(bounds, first, stop, own)
            continue
        left = low
        for b in range(first, stop):
            left = max(left, bounds[0, b])
        total = 0.0
        while left < high:
            right = high
            for b in range(first, stop):
                for end in range(1, 3):
                    if left < bounds[end, b] < right:
                        right = bounds[end, b]
            half, centre, part = (right - left) / 2.0, (right + left) / 2.0, 0.0
            for i in range(NODES):
                chance = below(bounds, first, stop, own, centre + half * _POINTS[i])
                part += _WEIGHTS[i] * chance
            density = (1.0 - RARE) / (middle - low) if left < middle else RARE / (high - middle)
            total += density * half * part
            left = right
        out[q] = total
