"""What tasks tell their parent: additive, so that tasks can live on different machines."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import condition, square_root, times, transposed
from hierbandits.beliefs.forest import Forest
from hierbandits.beliefs.gaussian import Gaussian
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

    precision: Matrix  # sum of C_s, (d, d), or (K,) if armed
    weighted: Vector  # sum of b_s, (d,)


def contributed(forest: Forest, nodes: Indices) -> Contribution:
    """What these nodes tell their parent: C = Sigma^-1 - Sigma^-1 P Sigma^-1 and b = Sigma^-1 t.

    C is made of its square root, since rounding may take the difference below zero.
    """
    level = forest.level[nodes]
    looking_up, factor = forest.precision[level], forest.factor[nodes]
    if forest.is_armed:
        explained = looking_up * np.maximum(1.0 - looking_up * factor**2, 0.0)
    else:
        root = forest.prior_factor[level]
        ratio = np.linalg.solve(root, factor)  # P = L M M' L' where Sigma = L L'
        values, vectors = np.linalg.eigh(np.eye(forest.dim) - ratio @ transposed(ratio))
        half = np.linalg.solve(transposed(root), vectors)
        half = half * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        explained = half @ transposed(half)
    weighted = times(looking_up, forest.mean[nodes])
    return Contribution(explained.sum(axis=0), weighted.sum(axis=0))


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
    cov = np.diag(factor**2) if prior.is_armed else factor @ factor.T
    return Gaussian(mean, cov)
