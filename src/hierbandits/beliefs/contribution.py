"""What tasks tell their parent: additive, so that tasks can live on different machines."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import condition, square_root, squared, times, transposed
from hierbandits.beliefs.common_tasks import CommonTasks
from hierbandits.beliefs.gaussian import Gaussian
from hierbandits.beliefs.levels import Levels
from hierbandits.beliefs.node_data import NodeData, information_of
from hierbandits.beliefs.nodes import Nodes
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import state_array
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices, Matrix, Vector

MOST_ROUNDING = 1e-6
"""By how many standard deviations a hyper-posterior may be off that is merged from a belief's."""


@dataclass(frozen=True, slots=True, eq=False)
class Contribution:
    """The information of some tasks about the hyper-parameter: sums of C_s and b_s.

        Sigma_bar^-1         = Sigma_q^-1 + sum C_s
        Sigma_bar^-1 mu_bar  = Sigma_q^-1 mu_q + sum b_s

    [HBB, eq. linear hyperposterior].  A shard's newer contribution replaces its older one.
    """

    precision: Matrix  # sum of C_s, (d, d), or (K,) if diagonal
    weighted: Vector  # sum of b_s, (d,)


def told_by_sums(levels: Levels, row: int, sums: TaskSums) -> Contribution:
    """What tasks of these sums tell, whose level has this row: C = A (I + Sigma A)^-1 and its b."""
    rows = np.full(len(sums.n), row)
    _check_not_singular(levels, rows)
    precision, weighted = information_of(levels, rows, sums)
    if levels.form.has_common_part:
        return _of_common(CommonTasks.after(levels.maps[rows, 0], precision, weighted))
    told = NodeData.of(levels, rows, precision, weighted)
    return Contribution(told.precision.sum(axis=0), told.weighted.sum(axis=0))


def contributed(nodes: Nodes, tasks: Indices) -> Contribution:
    """What tasks tell their parent: C = Sigma^-1 - Sigma^-1 P Sigma^-1 and b = Sigma^-1 t.

    C is computed from its square root, because rounding may take the difference below zero.  A
    ValueError if P is so near Sigma that its digits do not tell C.
    """
    levels, level = nodes.levels, nodes.forest.level[tasks]
    _check_not_singular(levels, level)
    maps = levels.maps[level]
    if levels.form.has_common_part:
        return _of_common(CommonTasks.of(maps[:, 0], nodes.state[tasks]))
    mean, factor, up = nodes.state[tasks, -1], nodes.state[tasks, :-1], transposed(maps[:, 1])
    start = levels.start[level]
    if nodes.is_diagonal:
        gain, factor = maps[:, 1], factor[:, 0]
        lost, precision = gain**2, gain**2 * np.maximum(1.0 - factor**2, 0.0)
        told = Contribution(precision.sum(axis=0), (gain * mean).sum(axis=0))
    else:
        ratio = np.linalg.solve(start, factor)  # S = L M, where L is the start
        values, vectors = np.linalg.eigh(np.eye(nodes.dim) - squared(ratio, diagonal=False))
        whole = up @ start
        half = whole @ (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])
        lost = nodes.dim * squared(whole, diagonal=False)
        told = Contribution(squared(half, diagonal=False).sum(axis=0), times(up, mean).sum(axis=0))
    if len(level):
        _check_digits(told, np.finfo(float).eps * lost.sum(axis=0), levels.above(int(level[0])))
    return told


def _of_common(known: CommonTasks) -> Contribution:
    every = np.zeros(len(known.tau), np.intp)
    precision, weighted = known.contributions(every, 1)
    return Contribution(precision[0], weighted[0])


def _check_not_singular(levels: Levels, rows: Indices) -> None:
    if levels.is_singular[rows].any():
        raise ValueError(
            "tasks must have a positive definite task_cov: where it is singular, a task does not "
            "keep what it has told its parent"
        )


def _check_digits(told: Contribution, lost: Matrix, above: Matrix) -> None:
    """Raise an error if rounding of this size could be seen in what the parent hears."""
    root = square_root(above)
    mean, factor, _ = condition(np.zeros(len(above)), root, told.precision, told.weighted)
    if factor.ndim == 1:
        seen, stds = float((factor**2 * lost).max()), factor
    else:
        seen = float(np.linalg.eigvalsh(factor.T @ lost @ factor)[-1])
        stds = np.sqrt((factor**2).sum(axis=1))
    most = seen * max(1.0, float((np.abs(mean) / np.where(stds > 0, stds, 1.0)).max()))
    if not most <= MOST_ROUNDING:
        raise ValueError(
            "tasks must have a task_cov that is wider beside hyper_cov and beside what was "
            f"learned: a belief keeps too few digits of what these tell, and their parent could be "
            f"{most:.1g} of its standard deviations off; keep TaskSums of each shard, add them up, "
            "and use Belief.from_sums"
        )


def merge_contributions(
    prior: GaussianHierarchy, contributions: Iterable[Contribution]
) -> Gaussian:
    """The hyper-posterior given the contributions of disjoint sets of tasks.

    It is as accurate as they are; see `Belief.contribution`.
    """
    precision: Matrix = np.zeros(prior.hyper_cov.shape)
    weighted: Vector = np.zeros(prior.dim)
    for part in contributions:
        precision += state_array("precision", part.precision, precision.shape)
        weighted += state_array("weighted", part.weighted, weighted.shape)
    root = square_root(prior.hyper_cov)
    mean, factor, _ = condition(prior.hyper_mean, root, precision, weighted)
    cov = squared(factor, diagonal=prior.is_diagonal)
    return Gaussian(mean, np.diag(cov) if prior.is_diagonal else cov)
