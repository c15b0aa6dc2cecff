"""Sums of twice as many digits: each comes with what rounding has taken from it.

A task has one row of numbers, side by side in memory: X'X (armed: the counts of its arms), X'Y,
what X'Y has lost, the number of events, Y'Y, and what Y'Y has lost.
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
def count_exactly(sums: Matrix, task: int, reward: float) -> None:
    """Count an event: it adds to the last three numbers of its task."""
    last, square = sums.shape[1] - 1, reward * reward
    sums[task, last - 2] += 1.0
    sums[task, last] += rounding(sums[task, last - 1], square)
    sums[task, last - 1] += square


@compiled_in_order
def add_arm_exactly(sums: Matrix, task: int, arm: int, reward: float) -> None:
    """Add an event of an arm to its task's sums."""
    num_arms = (sums.shape[1] - 3) // 3
    xy, lost = num_arms + arm, 2 * num_arms + arm
    sums[task, arm] += 1.0
    sums[task, lost] += rounding(sums[task, xy], reward)
    sums[task, xy] += reward
    count_exactly(sums, task, reward)


@compiled_in_order
def add_vector_exactly(sums: Matrix, task: int, x: Vector, reward: float) -> None:
    """Add an event of features x to its task's sums."""
    dim = x.size
    for i in range(dim):
        weight = x[i]
        for j in range(dim):
            sums[task, i * dim + j] += weight * x[j]
    xy, lost = dim * dim, dim * dim + dim
    for i in range(dim):
        more = x[i] * reward
        sums[task, lost + i] += rounding(sums[task, xy + i], more)
        sums[task, xy + i] += more
    count_exactly(sums, task, reward)


@compiled_in_order
def add_arms_exactly(sums: Matrix, tasks: Indices, features: Features, rewards: Vector) -> None:
    """`add_arm_exactly` for each of many events."""
    for e in range(tasks.size):
        add_arm_exactly(sums, tasks[e], features[e], rewards[e])


@compiled_in_order
def add_vectors_exactly(sums: Matrix, tasks: Indices, features: Features, rewards: Vector) -> None:
    """`add_vector_exactly` for each of many events."""
    for e in range(tasks.size):
        add_vector_exactly(sums, tasks[e], features[e], rewards[e])


def add_exactly(sums: Any, lost: Any, place: Any, more: Any) -> None:
    """Add a number, or a row of them, to a place of `sums`, and what that loses to `lost`."""
    lost[place] += rounding(sums[place], more)
    sums[place] += more
