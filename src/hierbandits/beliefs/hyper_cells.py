"""What is known of an arm's hyper-parameter: the cells of its grid."""

from typing import NamedTuple

from hierbandits.types import Vector


class HyperCells(NamedTuple):
    """The joint posterior of an arm's mean m and of the width t of its tasks, (cells,) each.

    See `GridHierarchy` for what the two are.
    """

    mean: Vector  # m
    task_std: Vector  # t
    weight: Vector  # they add up to 1
