"""Compiled bookkeeping of a simulated round."""

from hierbandits.arrays import Indices, Matrix, Vector
from hierbandits.kernels.compiler import compiled


@compiled
def number_interactions(runs: Indices, tasks: Indices, counts: Indices, out: Indices) -> None:
    """Number each event among its task's interactions and count it; a task may repeat."""
    for e in range(runs.size):
        out[e] = counts[runs[e], tasks[e]]
        counts[runs[e], tasks[e]] += 1


@compiled
def add_up(runs: Indices, tasks: Indices, values: Vector, by_task: Matrix, by_run: Vector) -> None:
    """Add each event's value to its task's total and to its run's."""
    for e in range(runs.size):
        by_task[runs[e], tasks[e]] += values[e]
        by_run[runs[e]] += values[e]


@compiled
def linear_values(
    theta: Matrix, runs: Indices, tasks: Indices, features: Matrix | Indices, out: Vector
) -> None:
    """out[e] = features[e] @ theta[run, task]."""
    for e in range(runs.size):
        total = 0.0
        for i in range(features.shape[1]):
            total += features[e, i] * theta[runs[e], tasks[e], i]
        out[e] = total
