"""Small algebra on Gaussians.

Axes before the last ones are a batch.  A diagonal matrix is the vector of its diagonal.
"""

from statistics import NormalDist

import numpy as np

from hierbandits.types import Indices, Matrix, Vector

FLOOR = 1e-60
"""The variance that stands for none where a covariance is singular."""


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
    information = transposed(factor) @ precision @ factor
    after, log_det = _conditioned(factor, (information + transposed(information)) / 2)
    residual = weighted - times(precision, mean)
    return mean + times(after, times(transposed(after), residual)), after, log_det


def _conditioned(factor: Matrix, information: Matrix) -> tuple[Matrix, Vector]:
    """A square root of S (I + W)^-1 S' and log det(I + W), for a positive semi-definite W.

    W is `information`.  Where it is beyond 1 / eps in some directions and zero in others, rounding
    can give it negative eigenvalues.  Then a pivot of I + W is below one, or it has no Cholesky
    factor, and negative eigenvalues are taken as zero.
    """
    try:
        lower = np.linalg.cholesky(np.eye(information.shape[-1]) + information)
        pivots = np.diagonal(lower, axis1=-2, axis2=-1)
        if (pivots > 0.9).all():
            after = transposed(np.linalg.solve(lower, transposed(factor)))
            return after, 2 * np.log(pivots).sum(axis=-1)
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(information)
    values = np.maximum(values, 0.0)
    after = factor @ (vectors / np.sqrt(1.0 + values)[..., None, :])
    return after, np.log1p(values).sum(axis=-1)


def whitening(cov: Matrix) -> Matrix:
    """L with L L' = cov, which `unwhitening` can invert although cov may be singular.

    L = D V lambda^(1/2), of standard deviations D and the eigenvectors and eigenvalues of the
    correlations.  An eigenvalue that rounding cannot tell from zero becomes FLOOR: too small to
    count beside anything, but not zero.
    """
    if cov.ndim == 1:
        return np.sqrt(np.maximum(cov, FLOOR))
    std = _scales(cov)
    values, vectors = np.linalg.eigh(cov / np.outer(std, std))
    values = np.where(values > _rounding(values), values, FLOOR)
    root: Matrix = std[:, None] * vectors * np.sqrt(values)
    return root


def unwhitening(root: Matrix, cov: Matrix) -> Matrix:
    """L^-1, of the L that `whitening` made of a covariance.

    Every row is as accurate as it is large: no row takes rounding errors from a larger one.
    """
    if cov.ndim == 1:
        return 1.0 / root
    std = _scales(cov)
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
    std = _scales(cov)
    values: Vector = np.linalg.eigvalsh(cov / np.outer(std, std))
    return values


def _rounding(values: Vector) -> float:
    """The size of an eigenvalue, of all of these in increasing order, that may be rounding."""
    return float(len(values) * np.finfo(float).eps * values[-1])


def _scales(cov: Matrix) -> Vector:
    """Standard deviations, with 1 in place of none."""
    var = np.diagonal(cov)
    return np.sqrt(np.where(var > FLOOR, var, 1.0))


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
