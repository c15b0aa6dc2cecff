"""Compiled bookkeeping of a simulated round."""

from hierbandits.compiler import compiled
from hierbandits.types import Indices, Matrix, Vector


@compiled
def unroll(
    table: Indices,  # (runs, width): the tasks of a round, negative for none
    counts: Indices,  # (runs, tasks): interactions so far; updated
    run: Indices,
    task: Indices,
    interaction: Indices,
) -> int:
    """Fill each event's run, its task and the number of the task's earlier interactions.

    Returns the number of events.  A task may repeat in a round.
    """
    used = 0
    for r in range(table.shape[0]):
        for place in range(table.shape[1]):
            s = table[r, place]
            if s >= 0:
                run[used] = r
                task[used] = s
                interaction[used] = counts[r, s]
                counts[r, s] += 1
                used += 1
    return used


@compiled
def add_up(runs: Indices, tasks: Indices, values: Vector, by_task: Matrix, by_run: Vector) -> None:
    """Add each event's value to its task's total and to its run's."""
    for e in range(runs.size):
        by_task[runs[e], tasks[e]] += values[e]
        by_run[runs[e]] += values[e]
