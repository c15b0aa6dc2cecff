"""Covariances as people state them: full matrices, or the variances of arms."""

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.checks import real_array
from hierbandits.types import Matrix, Vector


def checked_variances(name: str, value: ArrayLike, dim: int) -> Vector:
    """Variances of arms, (K,), none of them negative."""
    var = real_array(name, value, (dim,), " to match hyper_mean")
    if (var < 0).any():
        raise ValueError(f"{name} must not be negative, got a variance of {var.min()}")
    return var


def checked_covariance(name: str, value: ArrayLike, dim: int) -> Matrix:
    """A covariance, (d, d), symmetric and positive semi-definite."""
    cov = real_array(name, value, (dim, dim), " to match hyper_mean")
    asymmetry = np.abs(cov - cov.T).max()
    if asymmetry > 1e-8 * np.abs(cov).max():
        raise ValueError(f"{name} must be symmetric, got entries that differ by {asymmetry:g}")
    cov = (cov + cov.T) / 2
    eigenvalues = np.linalg.eigvalsh(cov)
    rounding = dim * np.finfo(float).eps * eigenvalues[-1]
    if eigenvalues[0] < -rounding:
        raise ValueError(
            f"{name} must be positive semi-definite, got an eigenvalue of {eigenvalues[0]:g}"
        )
    return cov
