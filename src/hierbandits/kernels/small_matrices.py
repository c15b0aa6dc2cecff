"""Compiled algebra of one small matrix at a time, for kernels that cannot batch."""

from math import sqrt

from hierbandits.compiler import compiled
from hierbandits.types import Matrix, Vector

ROUNDING = 1e-15  # the least pivot, as a share of the diagonal: rounding may take it below zero


@compiled
def factorise(cov: Matrix, lower: Matrix) -> None:
    """Fill the lower triangle L of cov = L L'; what is above it stays as it is."""
    for i in range(len(cov)):
        for j in range(i + 1):
            left = cov[i, j]
            for k in range(j):
                left -= lower[i, k] * lower[j, k]
            lower[i, j] = left / lower[j, j] if j < i else sqrt(max(left, ROUNDING * cov[i, i]))


@compiled
def factorise_above_one(more: Matrix, lower: Matrix, above: Vector) -> None:
    """Fill the lower triangle L of I + W = L L', and how far each pivot is above one.

    W, which is `more`, is positive semi-definite.  It may be far smaller than one: no digit of
    what it adds is lost.
    """
    for i in range(len(more)):
        for j in range(i + 1):
            left = more[i, j]
            for k in range(j):
                left -= lower[i, k] * lower[j, k]
            if j < i:
                lower[i, j] = left / lower[j, j]
            else:
                above[i] = max(left, 0.0)
                lower[i, i] = sqrt(1.0 + above[i])


@compiled
def invert_lower(lower: Matrix, out: Matrix) -> None:
    """Fill the lower triangle of L^-1; what is above it stays as it is."""
    for j in range(len(lower)):
        out[j, j] = 1.0 / lower[j, j]
        for i in range(j + 1, len(lower)):
            left = 0.0
            for k in range(j, i):
                left -= lower[i, k] * out[k, j]
            out[i, j] = left / lower[i, i]
