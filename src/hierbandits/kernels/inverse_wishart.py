"""A compiled draw of a covariance from the inverse Wishart distribution."""

from math import sqrt

from numpy.random import Generator

from hierbandits.compiler import compiled
from hierbandits.kernels.small_matrices import factorise, invert_lower
from hierbandits.types import Matrix


@compiled
def draw_inverse_wishart(
    rng: Generator,
    scatter: Matrix,
    freedom: float,
    lower: Matrix,
    inverse: Matrix,
    inner: Matrix,
    cov: Matrix,
) -> None:
    """Fill cov with B (A A')^-1 B' for scatter = B B' and A as in Bartlett's decomposition."""
    dim = len(cov)
    factorise(scatter, lower)
    for i in range(dim):
        inner[i, i] = sqrt(2 * rng.standard_gamma((freedom - i) / 2))
        for j in range(i):
            inner[i, j] = rng.standard_normal()
    invert_lower(inner, inverse)
    for i in range(dim):
        for j in range(dim):  # B A^-T
            total = 0.0
            for k in range(min(i, j) + 1):
                total += lower[i, k] * inverse[j, k]
            inner[i, j] = total
    for i in range(dim):
        for j in range(i + 1):
            total = 0.0
            for k in range(dim):
                total += inner[i, k] * inner[j, k]
            cov[i, j] = cov[j, i] = total
