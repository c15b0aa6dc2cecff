"""The best arm of each event, with ties broken by uniform numbers.

The arms of a round may be judged several times over: `slots` and `out` then have the events of one
turn after those of another.
"""

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.arm_arrays import ArmArrays
from hierbandits.types import Indices, Matrix, Vector


@inlined
def pick(values: Vector, first: int, stop: int, uniform: float) -> tuple[int, bool]:
    """The place of the highest value from `first` on, and whether it is tied.

    Of tied places the uniform number decides.  The first loop has no branches, because nobody can
    predict them.
    """
    top, winner, ties = values[first], first, 1
    for j in range(first + 1, stop):
        value = values[j]
        ties = 1 if value > top else ties + (value == top)
        winner = j if value > top else winner
        top = value if value > top else top
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
def best(scores: Vector, arms: ArmArrays, uniforms: Vector, out: Indices) -> bool:
    """The number of the arm that each event scores highest; returns whether any is tied.

    Uniform numbers are needed for ties alone: without any, the first of tied arms wins.
    """
    _, rows, start, offset, base = arms
    tied = False
    for e in range(start.size):
        uniform = uniforms[e] if uniforms.size else 0.0
        place, tie = pick(scores, offset[e], offset[e + 1], uniform)
        tied |= tie
        out[e] = rows[start[e] + place] - base[e]
    return tied


@inlined
def most_arms(offset: Indices) -> int:
    """The number of arms of the event that has most."""
    most = 0
    for e in range(offset.size - 1):
        most = max(most, offset[e + 1] - offset[e])
    return most


@compiled
def best_linear(
    theta: Matrix, slots: Indices, arms: ArmArrays, uniforms: Vector, out: Indices
) -> bool:
    """The number of each event's arm of highest table[row] @ theta[slot]; as `best`.

    An event's arms are laid out feature by feature, so that all of them are summed at once; the
    next event often has the same arms.
    """
    table, rows, start, offset, base = arms
    tied = False
    dim = theta.shape[1]
    few = dim % 4
    most = most_arms(offset)
    values, laid = np.empty(most), np.empty((dim, most))
    laid_start, laid_size = -1, 0
    e = -1
    for turn in range(slots.size):
        e = e + 1 if e + 1 < start.size else 0
        slot, size = slots[turn], offset[e + 1] - offset[e]
        if start[e] != laid_start or size != laid_size:
            laid_start, laid_size = start[e], size
            for k in range(size):
                for i in range(dim):
                    laid[i, k] = table[rows[start[e] + k], i]
        for k in range(size):
            values[k] = theta[slot, 0] * laid[0, k] if few else 0.0
        for i in range(1, few):
            for k in range(size):
                values[k] += theta[slot, i] * laid[i, k]
        for i in range(few, dim, 4):  # by fours: then values are read and written less often
            t0, t1 = theta[slot, i], theta[slot, i + 1]
            t2, t3 = theta[slot, i + 2], theta[slot, i + 3]
            for k in range(size):
                near = t0 * laid[i, k] + t1 * laid[i + 1, k]
                values[k] += near + t2 * laid[i + 2, k] + t3 * laid[i + 3, k]
        place, tie = pick(values, 0, size, uniforms[turn] if uniforms.size else 0.0)
        tied |= tie
        out[turn] = rows[start[e] + place] - base[e]
    return tied


@compiled
def best_armed(
    theta: Matrix, slots: Indices, arms: ArmArrays, uniforms: Vector, out: Indices
) -> bool:
    """The number of each event's arm of highest theta[slot, arm]; as `best`."""
    table, rows, start, offset, base = arms
    tied = False
    values = np.empty(most_arms(offset))
    e = -1
    for turn in range(slots.size):
        e = e + 1 if e + 1 < start.size else 0
        size = offset[e + 1] - offset[e]
        for k in range(size):
            values[k] = theta[slots[turn], table[rows[start[e] + k]]]
        place, tie = pick(values, 0, size, uniforms[turn] if uniforms.size else 0.0)
        tied |= tie
        out[turn] = rows[start[e] + place] - base[e]
    return tied
