"""What tasks tell their parent: additive, so that tasks can live on different machines."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import condition, square_root, squared, times, transposed
from hierbandits.beliefs.common_tasks import CommonTasks
from hierbandits.beliefs.gaussian import Gaussian
from hierbandits.beliefs.nodes import Nodes
from hierbandits.checks import state_array
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Contribution:
    """The information of some tasks about the hyper-parameter: sums of C_s and b_s.

        Sigma_bar^-1         = Sigma_q^-1 + sum C_s
        Sigma_bar^-1 mu_bar  = Sigma_q^-1 mu_q + sum b_s

    [HBB, eq. linear hyperposterior].  A shard's newer contribution replaces its older one.
    """

    precision: Matrix  # sum of C_s, (d, d), or (K,) if diagonal
    weighted: Vector  # sum of b_s, (d,)


def contributed(nodes: Nodes, tasks: Indices) -> Contribution:
    """What these tasks tell their parent: C = Sigma^-1 - Sigma^-1 P Sigma^-1 and b = Sigma^-1 t.

    C is computed from its square root, because rounding may take the difference below zero.
    """
    level = nodes.forest.level[tasks]
    if nodes.levels.is_singular[level].any():
        raise ValueError(
            "tasks must have a positive definite task_cov: where it is singular, a task does not "
            "keep what it has told its parent"
        )
    if nodes.levels.form.has_common_part:
        known = CommonTasks.of(nodes.levels.maps[level, 0], nodes.state[tasks])
        every = np.zeros(len(tasks), np.intp)
        precision, weighted = known.contributions(every, 1)
        return Contribution(precision[0], weighted[0])
    mean, factor, gain = (
        nodes.state[tasks, -1],
        nodes.state[tasks, :-1],
        nodes.levels.maps[level, 1],
    )
    if nodes.is_diagonal:
        explained = gain**2 * np.maximum(1.0 - factor[:, 0] ** 2, 0.0)
        return Contribution(explained.sum(axis=0), (gain * mean).sum(axis=0))
    start = nodes.levels.start[level]
    ratio = np.linalg.solve(start, factor)  # S = L M, where L is the start
    values, vectors = np.linalg.eigh(np.eye(nodes.dim) - squared(ratio, diagonal=False))
    half = transposed(gain) @ start @ (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])
    weighted = times(transposed(gain), mean)
    return Contribution(squared(half, diagonal=False).sum(axis=0), weighted.sum(axis=0))


def merge_contributions(
    prior: GaussianHierarchy, contributions: Iterable[Contribution]
) -> Gaussian:
    """The hyper-posterior given the contributions of disjoint sets of tasks."""
    precision: Matrix = np.zeros(prior.hyper_cov.shape)
    weighted: Vector = np.zeros(prior.dim)
    for part in contributions:
        precision += state_array("precision", part.precision, precision.shape)
        weighted += state_array("weighted", part.weighted, weighted.shape)
    root = square_root(prior.hyper_cov)
    mean, factor, _ = condition(prior.hyper_mean, root, precision, weighted)
    cov = squared(factor, diagonal=prior.is_diagonal)
    return Gaussian(mean, np.diag(cov) if prior.is_diagonal else cov)
