"""Events that leave hardly any uncertainty along their features: Potter's step would lose it.

Where S' x = f and the noise is small beside f, S - c S f f' is a difference of large numbers that
ought to be small.  So the columns of S are turned before the step, which changes no covariance, and
the one that is to be small is put in its place after it.
"""

from math import sqrt

from hierbandits.compiler import compiled
from hierbandits.types import Matrix, Vector

SHARP = 1e-6
"""An event of so little noise, as a part of its variance, leaves little along its features."""


@compiled
def turn(block: Matrix, f: Vector) -> None:
    """Turn the columns of S so that one of them holds all that S has along x; fills the new S' x.

    If hardly any of it is left afterwards, all entries of that column are small.  Then no rounding
    of large ones hides it, now or later.
    """
    dim, square, k = f.size, 0.0, 0
    for j in range(dim):
        square += f[j] * f[j]
        if abs(f[j]) > abs(f[k]):
            k = j
    size = -sqrt(square) if f[k] > 0 else sqrt(square)
    f[k] -= size  # now the vector of a Householder reflection, which takes f to an axis
    half = -1.0 / (size * f[k])
    for i in range(dim):
        total = 0.0
        for j in range(dim):
            total += block[i, j] * f[j]
        for j in range(dim):
            block[i, j] -= half * total * f[j]
    for j in range(dim):
        f[j] = size if j == k else 0.0


@compiled
def sharpen(block: Matrix, f: Vector, cov_x: Vector, left: float) -> None:
    """Let the column that `turn` made be what is left of it, which a difference would not tell."""
    for j in range(f.size):
        if f[j] != 0.0:
            for i in range(f.size):
                block[i, j] = cov_x[i] / f[j] * left
