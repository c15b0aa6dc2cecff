"""Sums of twice as many digits: each comes with what rounding has taken from it.

A task has a block and a tally.  The rows of a block are X'X (armed: one row, the counts of arms),
then X'Y, then what X'Y has lost.  A tally holds the number of events, Y'Y, and what Y'Y has lost.
"""

from typing import Any

from hierbandits.compiler import compiled_in_order
from hierbandits.types import Features, Indices, Matrix, Vector


@compiled_in_order
def rounding(had: Any, more: Any) -> Any:
    """What the sum of two numbers, or of two rows of them, loses, exactly (Knuth's two-sum)."""
    total = had + more
    back = total - had
    return (had - (total - back)) + (more - back)


@compiled_in_order
def count_exactly(tallies: Matrix, task: int, reward: float) -> None:
    """Add an event to its task's tally."""
    square = reward * reward
    tallies[task, 0] += 1.0
    tallies[task, 2] += rounding(tallies[task, 1], square)
    tallies[task, 1] += square


@compiled_in_order
def add_arm_exactly(blocks: Matrix, tallies: Matrix, task: int, arm: int, reward: float) -> None:
    """Add an event of an arm to its task's sums."""
    blocks[task, 0, arm] += 1.0
    blocks[task, 2, arm] += rounding(blocks[task, 1, arm], reward)
    blocks[task, 1, arm] += reward
    count_exactly(tallies, task, reward)


@compiled_in_order
def add_vector_exactly(
    blocks: Matrix, tallies: Matrix, task: int, x: Vector, reward: float
) -> None:
    """Add an event of features x to its task's sums."""
    dim = x.size
    for i in range(dim):
        weight = x[i]
        for j in range(dim):
            blocks[task, i, j] += weight * x[j]
    for i in range(dim):
        more = x[i] * reward
        blocks[task, dim + 1, i] += rounding(blocks[task, dim, i], more)
        blocks[task, dim, i] += more
    count_exactly(tallies, task, reward)


@compiled_in_order
def add_arms_exactly(
    blocks: Matrix, tallies: Matrix, tasks: Indices, features: Features, rewards: Vector
) -> None:
    """`add_arm_exactly` for each of many events."""
    for e in range(tasks.size):
        add_arm_exactly(blocks, tallies, tasks[e], features[e], rewards[e])


@compiled_in_order
def add_vectors_exactly(
    blocks: Matrix, tallies: Matrix, tasks: Indices, features: Features, rewards: Vector
) -> None:
    """`add_vector_exactly` for each of many events."""
    for e in range(tasks.size):
        add_vector_exactly(blocks, tallies, tasks[e], features[e], rewards[e])


def add_exactly(sums: Any, lost: Any, place: Any, more: Any) -> None:
    """Add a number, or a row of them, to a place of `sums`, and what that loses to `lost`."""
    lost[place] += rounding(sums[place], more)
    sums[place] += more
