"""Compiled sums of a log: X'X, X'Y, Y'Y and n of each task."""

import numpy as np

from hierbandits.compiler import compiled
from hierbandits.types import Features, Indices, Matrix, Vector


@compiled
def add_vector(
    task: int, x: Vector, reward: float, xx: Matrix, xy: Matrix, yy: Vector, n: Vector
) -> None:
    """Add an event to its task's sums, where features are vectors."""
    for i in range(x.size):
        for j in range(x.size):
            xx[task, i, j] += x[i] * x[j]
        xy[task, i] += x[i] * reward
    yy[task] += reward * reward
    n[task] += 1.0


@compiled
def add_arm(
    task: int, arm: int, reward: float, xx: Matrix, xy: Matrix, yy: Vector, n: Vector
) -> None:
    """Add an event to its task's sums, where features are arm indices."""
    xx[task, arm] += 1.0
    xy[task, arm] += reward
    yy[task] += reward * reward
    n[task] += 1.0


@compiled
def add_vectors(
    tasks: Indices,
    features: Features,
    rewards: Vector,
    xx: Matrix,
    xy: Matrix,
    yy: Vector,
    n: Vector,
) -> None:
    """`add_vector` of each event of a batch."""
    for e in range(tasks.size):
        add_vector(tasks[e], features[e], rewards[e], xx, xy, yy, n)


@compiled
def add_rows(
    nodes: Indices,
    arms: Indices,
    dim: int,
    row_of: Indices,  # of each node's arms; -1, or from `size` on: it has none
    size: int,
    rewards: Vector,
    exposure: Vector,
    sites: Matrix,  # (3, E)
    sums: Matrix,  # (rows, 5), changed
    told: Indices,  # (1,), changed
    number: int,
) -> bool:
    """Add rewards, exposures and sites to rows of sums, and tell that there are so many more.

    Returns False, and does nothing, if one of the events has no row.
    """
    rows = np.empty(nodes.size, np.uintp)  # unsigned: no time is spent on negative indices
    for e in range(nodes.size):
        key = nodes[e] * dim + arms[e]
        row = row_of[np.uintp(key)] if key < row_of.size else -1
        if not 0 <= row < size:
            return False
        rows[e] = row
    for e in range(nodes.size):
        row = rows[e]
        sums[row, 0] += rewards[e]
        sums[row, 1] += exposure[e]
        sums[row, 2] += sites[0, e]  # written out: a loop of three takes twice as long
        sums[row, 3] += sites[1, e]
        sums[row, 4] += sites[2, e]
    told[0] += number
    return True


@compiled
def add_arms(
    tasks: Indices,
    features: Features,
    rewards: Vector,
    xx: Matrix,
    xy: Matrix,
    yy: Vector,
    n: Vector,
) -> None:
    """`add_arm` of each event of a batch."""
    for e in range(tasks.size):
        add_arm(tasks[e], features[e], rewards[e], xx, xy, yy, n)
