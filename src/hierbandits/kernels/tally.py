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
def add_up(runs: Indices, tasks: Indices, values: Vector, totals: Matrix) -> None:
    """totals[run, task] += value, for each event."""
    for e in range(runs.size):
        totals[runs[e], tasks[e]] += values[e]
