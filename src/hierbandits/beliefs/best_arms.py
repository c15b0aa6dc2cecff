"""The best arm of each event, with ties broken at random."""

import numpy as np
from numpy.random import Generator

from hierbandits.kernels.arm_arrays import ArmArrays
from hierbandits.kernels.tie_breaking import best, best_armed, best_linear
from hierbandits.types import Features, Indices, Matrix, Vector


def best_scored(scores: Vector, arms: ArmArrays, rng: Generator) -> Indices:
    """The number of each event's arm of highest score, (E,); arms' scores event after event."""
    numbers = np.empty(arms[2].size, np.intp)
    if best(scores, arms, _NO_UNIFORMS, numbers):
        best(scores, arms, rng.random(numbers.size), numbers)
    return numbers


def best_under(theta: Matrix, slots: Indices, arms: ArmArrays, rng: Generator) -> Indices:
    """The number of each event's best arm if its parameter is theta[slots[e]].

    With more slots than events the arms are judged again, turn after turn.  Random numbers are
    drawn only if there is a tie.
    """
    kernel = best_armed if arms[0].ndim == 1 else best_linear
    numbers = np.empty(slots.size, np.intp)
    if kernel(theta, slots, arms, _NO_UNIFORMS, numbers):
        kernel(theta, slots, arms, rng.random(slots.size), numbers)
    return numbers


def best_row_under(theta: Matrix, slots: Indices, table: Features, rng: Generator) -> int:
    """The best row of a table if the parameter is theta[slots[0]]."""
    rows, zero = np.arange(len(table)), np.zeros(1, np.intp)
    arms = ArmArrays((table, rows, zero, np.array([0, len(table)]), zero))
    return int(best_under(theta, slots, arms, rng)[0])


_NO_UNIFORMS = np.empty(0)
