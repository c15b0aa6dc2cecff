"""Covariances as people state them: full matrices, or the variances of arms."""

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.checks import real_array
from hierbandits.types import Matrix, Vector

ROUNDING = 1e-12
"""How far below zero an eigenvalue may be, over the largest: covariances are sums and products."""

SAVED_ROUNDING = 1e-10
"""The same for a covariance from a file, which another kind of processor has found to be sound."""


def checked_variances(name: str, value: ArrayLike, dim: int) -> Vector:
    """Variances of arms, (K,), none of them negative."""
    var = real_array(name, value, (dim,), " to match hyper_mean")
    if (var < 0).any():
        raise ValueError(f"{name} must not be negative, got a variance of {var.min()}")
    return var


def checked_covariance(
    name: str,
    value: ArrayLike,
    dim: int,
    count_name: str = "hyper_mean",
    *,
    saved: bool = False,
) -> Matrix:
    """A covariance, (d, d), symmetric and positive semi-definite; `saved`: from a file."""
    cov = real_array(name, value, (dim, dim), f" to match {count_name}")
    asymmetry = np.abs(cov - cov.T).max()
    if asymmetry > 1e-8 * np.abs(cov).max():
        raise ValueError(f"{name} must be symmetric, got entries that differ by {asymmetry:g}")
    cov = (cov + cov.T) / 2
    parts = parts_in_common(cov)
    if parts is not None and (parts[0] >= 0).all():
        return cov  # sound as it is: matrix algebra may wait for threads, tens of milliseconds
    eigenvalues = np.linalg.eigvalsh(cov)
    if eigenvalues[0] < -(SAVED_ROUNDING if saved else ROUNDING) * eigenvalues[-1]:
        raise ValueError(
            f"{name} must be positive semi-definite, got an eigenvalue of {eigenvalues[0]:g}"
        )
    return cov


def parts_in_common(cov: Matrix) -> tuple[Vector, float] | None:
    """The variances v and the common variance c of a covariance diag(v) + c, if it has that form.

    It is the covariance of independent numbers, plus one number that all have in common.
    """
    if len(cov) == 1:
        return np.diagonal(cov).copy(), 0.0
    others = cov[~np.eye(len(cov), dtype=bool)]
    common = float(others.mean())
    if np.ptp(others) > 4 * np.finfo(float).eps * common or common < 0:
        return None
    if np.ptp(others) == 0:
        common = float(others[0])
    own: Vector = np.diagonal(cov) - common
    return (own, common) if (own >= 0).all() else None
