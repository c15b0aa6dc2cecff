"""Small algebra on Gaussians.

Axes before the last ones are a batch.  A diagonal matrix is the vector of its diagonal.
"""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from hierbandits.types import Indices, Matrix, Vector

FLOOR = 1e-60
"""The variance that stands for none where a covariance is singular."""

_MOST_SPREAD = 1e6  # tr W tr (I + W)^-1, for rounding of 1e-9 beside I + W at most


def square_root(cov: Matrix) -> Matrix:
    """S with S S' = cov: the Cholesky factor, or the symmetric root if cov is singular.

    Coordinates of very different sizes alone do not make it so.
    """
    if cov.ndim == 1:
        return np.sqrt(cov)
    if not is_singular(cov) and (np.diagonal(cov) > FLOOR).all():
        return np.linalg.cholesky(cov)
    values, vectors = np.linalg.eigh(cov)
    root: Matrix = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    return root


def squared(factor: Matrix, *, diagonal: bool) -> Matrix:
    """S S': the covariance of which S is a square root."""
    return factor**2 if diagonal else factor @ transposed(factor)


def inverse(cov: Matrix) -> Matrix:
    """The inverse of a covariance, exactly symmetric."""
    if cov.ndim == 1:
        return 1.0 / cov
    inverse = np.linalg.inv(cov)
    return (inverse + inverse.T) / 2


def eigenvalues(cov: Matrix) -> Vector:
    """The eigenvalues of a covariance, in increasing order."""
    values: Vector = np.sort(cov) if cov.ndim == 1 else np.linalg.eigvalsh(cov)
    return values


def transposed(matrix: Matrix) -> Matrix:
    """The transposed matrices: the last two axes change places."""
    return np.swapaxes(matrix, -1, -2)


def times(matrix: Matrix, vector: Vector) -> Vector:
    """Products of matrices and vectors."""
    if matrix.ndim == vector.ndim:
        return matrix * vector
    return (matrix @ vector[..., None])[..., 0]


def condition(
    mean: Vector, factor: Matrix, precision: Matrix, weighted: Vector
) -> tuple[Vector, Matrix, Vector]:
    """Condition theta ~ N(mean, S S') on data.

    Their likelihood is proportional to exp(b' theta - theta' C theta / 2).  S is `factor`, C is
    `precision` and b is `weighted`.  Returns the new mean, a square root of the new covariance, and
    log det(I + S' C S).  The work is done in the coordinates of S, so S is never inverted: it may
    be singular or zero.
    """
    after: Matrix
    if factor.shape == mean.shape:  # diagonal
        inner = 1.0 + factor**2 * precision
        after = factor / np.sqrt(inner)
        return mean + after**2 * (weighted - precision * mean), after, np.log(inner).sum(axis=-1)
    inner = transposed(factor) @ precision @ factor
    residual = weighted - times(precision, mean)
    told = settle((inner + transposed(inner)) / 2, times(transposed(factor), residual))
    return mean + times(factor, told.mean), factor @ told.root, told.log_det


class Settled(NamedTuple):
    """What data say of z ~ N(0, I), given the density exp(b' z - z' W z / 2) that they have."""

    mean: Vector  # (I + W)^-1 b
    root: Matrix  # R with R R' = (I + W)^-1
    message: Matrix  # W (I + W)^-1: what remains of W if z is integrated out
    log_det: Vector  # log det(I + W)


def settle(information: Matrix, weighted: Vector) -> Settled:
    """Condition z ~ N(0, I) on data of this W, which is symmetric, and this b.

    W has rounding errors of the size of its largest eigenvalue.  Where they could be seen beside
    I + W, an eigenvalue that may be nothing else counts as zero, and so does b along it: data say
    nothing there, since b is a product of W.
    """
    one = np.eye(information.shape[-1])
    try:
        lower = np.linalg.cholesky(one + information)
    except np.linalg.LinAlgError:
        return _settled_by_eigenvalues(information, weighted)
    pivots = np.diagonal(lower, axis1=-2, axis2=-1)
    root = np.linalg.solve(transposed(lower), np.broadcast_to(one, lower.shape))
    message = root @ (transposed(root) @ information)
    told = Settled(
        times(root, times(transposed(root), weighted)),
        root,
        (message + transposed(message)) / 2,
        2 * np.log(pivots).sum(axis=-1),
    )
    spread = np.trace(information, axis1=-2, axis2=-1) * (root**2).sum(axis=(-2, -1))
    unclear = (spread > _MOST_SPREAD) | (pivots < 0.9).any(axis=-1)
    if not unclear.any():
        return told
    if information.ndim == 2:
        return _settled_by_eigenvalues(information, weighted)
    for part, other in zip(
        told, _settled_by_eigenvalues(information[unclear], weighted[unclear]), strict=True
    ):
        part[unclear] = other
    return told


def _settled_by_eigenvalues(information: Matrix, weighted: Vector) -> Settled:
    values, vectors = np.linalg.eigh(information)
    floor = len(values.T) * np.finfo(float).eps * values[..., -1:]
    values = np.where(values > floor, values, 0.0)
    along = np.where(values > 0, times(transposed(vectors), weighted), 0.0)
    message = (vectors * (values / (1.0 + values))[..., None, :]) @ transposed(vectors)
    return Settled(
        times(vectors, along / (1.0 + values)),
        vectors / np.sqrt(1.0 + values)[..., None, :],
        (message + transposed(message)) / 2,
        np.log1p(values).sum(axis=-1),
    )


def whitening(cov: Matrix) -> Matrix:
    """L with L L' = cov, which `unwhitening` can invert although cov may be singular.

    L = D V lambda^(1/2), of standard deviations D and the eigenvectors and eigenvalues of the
    correlations.  An eigenvalue that rounding cannot tell from zero becomes FLOOR: too small to
    count beside anything, but not zero.
    """
    if cov.ndim == 1:
        return np.sqrt(np.maximum(cov, FLOOR))
    std, correlations = _scaled(cov)
    some = np.flatnonzero(np.diagonal(correlations))  # eigenvectors of the others would round
    values, vectors = np.linalg.eigh(correlations[np.ix_(some, some)])
    values = np.where(values > _rounding(values), values, FLOOR)
    root: Matrix = np.sqrt(FLOOR) * np.eye(len(cov))
    root[np.ix_(some, some)] = std[some, None] * vectors * np.sqrt(values)
    return root


def unwhitening(root: Matrix, cov: Matrix) -> Matrix:
    """L^-1, of the L that `whitening` made of a covariance.

    Every row is as accurate as it is large: no row takes rounding errors from a larger one.
    """
    if cov.ndim == 1:
        return 1.0 / root
    std, _ = _scaled(cov)
    scaled = root / std[:, None]  # V lambda^(1/2)
    inverse: Matrix = (scaled / (scaled**2).sum(axis=0)).T / std
    return inverse


def is_singular(cov: Matrix) -> bool:
    """Whether `whitening` finds a direction without variance."""
    if cov.ndim == 1:
        return bool((cov <= FLOOR).any())
    values = _correlation_eigenvalues(cov)
    return bool(values[0] <= _rounding(values))


def is_well_conditioned(cov: Matrix) -> bool:
    """Whether the inverse of a covariance is accurate to about 1e-12, in units of its widths."""
    values = _correlation_eigenvalues(cov)
    return bool(values[0] > 1e-4 * values[-1] and (np.diagonal(cov) > FLOOR).all())


def _correlation_eigenvalues(cov: Matrix) -> Vector:
    values: Vector = np.linalg.eigvalsh(_scaled(cov)[1])
    return values


def _rounding(values: Vector) -> float:
    """The size of an eigenvalue, of all of these in increasing order, that may be rounding."""
    return float(len(values) * np.finfo(float).eps * values.max(initial=0.0))


def _scaled(cov: Matrix) -> tuple[Vector, Matrix]:
    """Standard deviations, with 1 in place of none, and correlations, with 0 for those."""
    var = np.diagonal(cov)
    some = var > FLOOR
    std = np.sqrt(np.where(some, var, 1.0))
    return std, np.where(np.outer(some, some), cov, 0.0) / np.outer(std, std)


def explained(gain: Matrix, information: Matrix) -> Matrix:
    """C = K' G, made symmetric: what a node of gain K and data G tells about its parent.

    Leading axes are batched here; diagonals are (nodes, K).
    """
    if gain.ndim == 2:
        return gain * information
    product = transposed(gain) @ information
    return (product + transposed(product)) / 2


def summed(rows: Matrix, group: Indices, num_groups: int) -> Matrix:
    """The sums of the rows of each group, (groups, ...)."""
    total = np.zeros((num_groups, *rows.shape[1:]))
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    total[group[order][starts]] = np.add.reduceat(rows[order], starts, axis=0)
    return total


def normal_quantile(confidence: float) -> float:
    """Half the length of a central normal interval, in standard deviations."""
    return NormalDist().inv_cdf((1 + confidence) / 2)
