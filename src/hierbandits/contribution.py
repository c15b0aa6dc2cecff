"""What tasks tell their parent: additive, so that tasks can live on different machines."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hierbandits.arrays import Indices, Matrix, Vector, state_array
from hierbandits.forest import Forest, square_root
from hierbandits.gaussian import Gaussian
from hierbandits.hierarchy import GaussianHierarchy


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
        values, vectors = np.linalg.eigh(np.eye(forest.dim) - ratio @ _transposed(ratio))
        half = np.linalg.solve(_transposed(root), vectors)
        half = half * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        explained = half @ _transposed(half)
    weighted = times(looking_up, forest.mean[nodes])
    return Contribution(explained.sum(axis=0), weighted.sum(axis=0))


def merge(prior: GaussianHierarchy, contributions: Iterable[Contribution]) -> Gaussian:
    """The hyper-posterior given the contributions of disjoint sets of tasks."""
    precision: Matrix = np.zeros(prior.hyper_cov.shape)
    weighted: Vector = np.zeros(prior.dim)
    for part in contributions:
        precision += state_array("precision", part.precision, precision.shape)
        weighted += state_array("weighted", part.weighted, weighted.shape)
    mean, factor, _ = combine(prior.hyper_mean, square_root(prior.hyper_cov), precision, weighted)
    cov = np.diag(factor**2) if prior.is_armed else factor @ factor.T
    return Gaussian(mean, cov)


def combine(
    mean: Vector, factor: Matrix, precision: Matrix, weighted: Vector
) -> tuple[Vector, Matrix, Vector]:
    """N(mean, S S') after the information (C, b): mean, square root and log det(I + S' C S).

    Works in the coordinates of S, so that a singular or zero S needs no inverse.  Leading axes
    are batched.
    """
    after: Matrix
    if factor.shape == mean.shape:  # diagonal
        inner = 1.0 + factor**2 * precision
        after = factor / np.sqrt(inner)
        return mean + after**2 * (weighted - precision * mean), after, np.log(inner).sum(axis=-1)
    told = _transposed(factor) @ precision @ factor
    after, log_det = _conditioned(factor, (told + _transposed(told)) / 2)
    residual = weighted - times(precision, mean)
    return mean + times(after, times(_transposed(after), residual)), after, log_det


def _conditioned(factor: Matrix, told: Matrix) -> tuple[Matrix, Vector]:
    """A square root of S (I + W)^-1 S' and log det(I + W), for a W without negative eigenvalues.

    Where W is beyond 1 / eps in some directions and zero in others, rounding may give it some.
    A pivot far below one, which there cannot be, tells; then what is below zero counts as zero.
    """
    try:
        lower = np.linalg.cholesky(np.eye(told.shape[-1]) + told)
        pivots = np.diagonal(lower, axis1=-2, axis2=-1)
        if (pivots > 0.9).all():
            after = _transposed(np.linalg.solve(lower, _transposed(factor)))
            return after, 2 * np.log(pivots).sum(axis=-1)
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(told)
    values = np.maximum(values, 0.0)
    after = factor @ (vectors / np.sqrt(1.0 + values)[..., None, :])
    return after, np.log1p(values).sum(axis=-1)


def times(matrix: Matrix, vector: Vector) -> Vector:
    """Matrix-vector products with leading axes batched; a diagonal is a vector."""
    if matrix.ndim == vector.ndim:
        return matrix * vector
    return (matrix @ vector[..., None])[..., 0]


def _transposed(matrix: Matrix) -> Matrix:
    return np.swapaxes(matrix, -1, -2)
