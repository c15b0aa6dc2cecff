"""Compiled sums of a log: X'X, X'Y, Y'Y and n of each task."""

from hierbandits.compiler import compiled
from hierbandits.types import Features, Indices, Matrix, Vector


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
    """Add a batch of events to their tasks' sums, where features are vectors."""
    for e in range(tasks.size):
        task = tasks[e]
        for i in range(features.shape[1]):
            for j in range(features.shape[1]):
                xx[task, i, j] += features[e, i] * features[e, j]
            xy[task, i] += features[e, i] * rewards[e]
        yy[task] += rewards[e] * rewards[e]
        n[task] += 1.0


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
    """Add a batch of events to their tasks' sums, where features are arm indices."""
    for e in range(tasks.size):
        task = tasks[e]
        xx[task, features[e]] += 1.0
        xy[task, features[e]] += rewards[e]
        yy[task] += rewards[e] * rewards[e]
        n[task] += 1.0
