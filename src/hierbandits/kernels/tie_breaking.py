"""The best arm of each event, with ties broken by uniform numbers.

Event e has the arms rows[start[e] + k] of a feature table, and their values begin at offset[e];
an arm's number is its row, counted from the event's base.
"""

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.types import Indices, Matrix, Vector


@inlined
def pick(values: Vector, first: int, stop: int, uniform: float) -> tuple[int, bool]:
    """The place of the highest value from `first` on, and whether it is tied.

    Of tied places the uniform number decides.
    """
    top = values[first]
    ties = 1
    winner = first
    for j in range(first + 1, stop):
        if values[j] > top:
            top = values[j]
            winner = j
            ties = 1
        elif values[j] == top:
            ties += 1
    if ties > 1:
        skip = int(uniform * ties)
        for j in range(first, stop):
            if values[j] == top:
                if skip == 0:
                    winner = j
                    break
                skip -= 1
    return winner - first, ties > 1


@compiled
def best(
    scores: Vector,
    uniforms: Vector,
    rows: Indices,
    start: Indices,
    offset: Indices,
    base: Indices,
    out: Indices,
) -> bool:
    """The number of the arm that each event scores highest; returns whether any is tied.

    Uniform numbers are needed for ties alone: without any, the first of tied arms wins.
    """
    tied = False
    for e in range(start.size):
        uniform = uniforms[e] if uniforms.size else 0.0
        place, tie = pick(scores, offset[e], offset[e + 1], uniform)
        tied |= tie
        out[e] = rows[start[e] + place] - base[e]
    return tied


@compiled
def best_linear(
    theta: Matrix,
    slots: Indices,
    table: Matrix,
    uniforms: Vector,
    rows: Indices,
    start: Indices,
    offset: Indices,
    base: Indices,
    out: Indices,
) -> bool:
    """The number of each event's arm of highest table[row] @ theta[slot]; as `best`.

    An event's arms are laid out feature by feature, so that all of them are summed at once; the
    next event often has the same arms.
    """
    tied = False
    dim = theta.shape[1]
    most = 0
    for e in range(start.size):
        most = max(most, offset[e + 1] - offset[e])
    values = np.empty(most)
    arms = np.empty((dim, most))
    laid_start, laid_size = -1, 0
    for e in range(start.size):
        size = offset[e + 1] - offset[e]
        if start[e] != laid_start or size != laid_size:
            laid_start, laid_size = start[e], size
            for k in range(size):
                row = rows[start[e] + k]
                for i in range(dim):
                    arms[i, k] = table[row, i]
        slot, few = slots[e], dim % 4
        for k in range(size):
            values[k] = 0.0
        for i in range(few):
            for k in range(size):
                values[k] += theta[slot, i] * arms[i, k]
        for i in range(few, dim, 4):  # by fours: then values are read and written less often
            t0, t1, t2, t3 = (
                theta[slot, i],
                theta[slot, i + 1],
                theta[slot, i + 2],
                theta[slot, i + 3],
            )
            for k in range(size):
                near = t0 * arms[i, k] + t1 * arms[i + 1, k]
                values[k] += near + t2 * arms[i + 2, k] + t3 * arms[i + 3, k]
        place, tie = pick(values, 0, size, uniforms[e] if uniforms.size else 0.0)
        tied |= tie
        out[e] = rows[start[e] + place] - base[e]
    return tied


@compiled
def best_armed(
    theta: Matrix,
    slots: Indices,
    table: Indices,
    uniforms: Vector,
    rows: Indices,
    start: Indices,
    offset: Indices,
    base: Indices,
    out: Indices,
) -> bool:
    """The number of each event's arm of highest theta[slot, arm]; as `best`."""
    tied = False
    most = 0
    for e in range(start.size):
        most = max(most, offset[e + 1] - offset[e])
    values = np.empty(most)
    for e in range(start.size):
        size = offset[e + 1] - offset[e]
        for k in range(size):
            values[k] = theta[slots[e], table[rows[start[e] + k]]]
        place, tie = pick(values, 0, size, uniforms[e] if uniforms.size else 0.0)
        tied |= tie
        out[e] = rows[start[e] + place] - base[e]
    return tied
