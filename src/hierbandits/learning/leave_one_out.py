"""The posterior of mu without each task in turn, for all tasks at once."""

import numpy as np

from hierbandits.algebra import condition, explained, square_root, squared, times, transposed
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Matrix


def without_each(
    prior: GaussianHierarchy, sums: TaskSums, posteriors: TaskPosteriors
) -> tuple[Matrix, Matrix]:
    """For each task, mu given all other tasks: means (tasks, d) and covariances (tasks, d, d).

    The sums have the form of the posteriors: diagonals, (tasks, K), or matrices.
    """
    gain, noise_var, diagonal = posteriors.gain, prior.noise_std**2, posteriors.is_diagonal
    informations = explained(gain, sums.xx / noise_var)  # C_s = K' G
    weighted = times(gain if diagonal else transposed(gain), sums.xy / noise_var)  # b_s
    for population in range(len(posteriors.hyper_mean)):
        tasks = np.flatnonzero(posteriors.population == population)
        informations[tasks] = _sums_of_others(informations[tasks])
        weighted[tasks] = _sums_of_others(weighted[tasks])
    mean = np.broadcast_to(prior.hyper_mean, weighted.shape)
    root = np.broadcast_to(square_root(prior.hyper_cov), informations.shape)
    after, factor, _ = condition(mean, root, informations, weighted)
    return after, squared(factor, diagonal=diagonal)


def _sums_of_others(rows: Matrix) -> Matrix:
    """For each row, the sum of all rows before it and after it.

    The total less the row would leave rounding in place of a zero, and a wide hyper-prior would
    magnify that rounding.
    """
    total = np.zeros_like(rows)
    np.cumsum(rows[:-1], axis=0, out=total[1:])
    total[:-1] += np.cumsum(rows[:0:-1], axis=0)[::-1]
    return total
