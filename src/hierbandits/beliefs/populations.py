"""Which population each task belongs to, where populations differ in size."""

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.checks import index_array
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices


def checked_population(
    population: ArrayLike, num_populations: int = 1, num_tasks: int | None = None
) -> tuple[Indices, int]:
    """The population of each task, (tasks,), and how many populations there are.

    Populations are numbered from 0.  There may be more than have tasks, if `num_populations` says
    so; 1, the default of callers, says nothing.  `num_tasks` is how many tasks there must be.
    """
    size = np.size(population)
    if num_tasks is not None and size != num_tasks:
        raise ValueError(
            f"population must have one entry for each of {num_tasks} tasks, got {size}"
        )
    checked = index_array("population", population, max(num_populations, size), "populations")
    needed = int(checked.max(initial=-1)) + 1
    if 1 < num_populations < needed:
        raise ValueError(
            f"num_populations must be at least {needed} to match population, got {num_populations}"
        )
    return checked, max(num_populations, needed)


def planted_population(
    population: ArrayLike,
    priors: list[GaussianHierarchy],
    children: tuple[int, ...],
    num_populations: int,
) -> tuple[Indices | None, int]:
    """The population of each task's node, and how many there are; None if tasks have no nodes."""
    if len(priors) > 1 or children or priors[0].num_levels > 2:
        raise ValueError(
            "population must come with one hierarchy of at most two levels, and without num_tasks"
        )
    population, number = checked_population(population, num_populations)
    return (None if priors[0].num_levels == 1 else population), number
