"""Sums of twice as many digits: each comes with what rounding has taken from it."""

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
def add_arms_exactly(
    tasks: Indices,
    features: Features,
    rewards: Vector,
    xx: Matrix,
    xy: Matrix,
    yy: Vector,
    n: Vector,
    lost_xy: Matrix,
    lost_yy: Vector,
) -> None:
    """Add a batch of events to their tasks' sums, where features are arm indices.

    What rounding takes from X'Y and Y'Y is added to `lost_xy` and `lost_yy`.
    """
    for e in range(tasks.size):
        task, arm = tasks[e], features[e]
        xx[task, arm] += 1.0
        n[task] += 1.0
        more, square = rewards[e], rewards[e] * rewards[e]
        lost_xy[task, arm] += rounding(xy[task, arm], more)
        xy[task, arm] += more
        lost_yy[task] += rounding(yy[task], square)
        yy[task] += square


@compiled_in_order
def add_vectors_exactly(
    tasks: Indices,
    features: Features,
    rewards: Vector,
    xx: Matrix,
    xy: Matrix,
    yy: Vector,
    n: Vector,
    lost_xy: Matrix,
    lost_yy: Vector,
) -> None:
    """`add_arms_exactly` where features are vectors."""
    for e in range(tasks.size):
        task, square = tasks[e], rewards[e] * rewards[e]
        n[task] += 1.0
        for i in range(features.shape[1]):
            for j in range(features.shape[1]):
                xx[task, i, j] += features[e, i] * features[e, j]
            more = features[e, i] * rewards[e]
            lost_xy[task, i] += rounding(xy[task, i], more)
            xy[task, i] += more
        lost_yy[task] += rounding(yy[task], square)
        yy[task] += square


def add_exactly(sums: Any, lost: Any, place: Any, more: Any) -> None:
    """Add a number, or a row of them, to a place of `sums`, and what that loses to `lost`."""
    lost[place] += rounding(sums[place], more)
    sums[place] += more
