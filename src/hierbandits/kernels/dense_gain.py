"""The gain K = T S S' G of nodes with full covariances: all that forms it, or a product with it.

A message goes up by `tell`, a draw comes down by `inherit`, and `gains` is for all else.  A belief
whose parameters drift would keep K as state, and read it here.
"""

from hierbandits.compiler import inlined
from hierbandits.types import Matrix, Vector


@inlined
def tell(maps: Matrix, row: int, cov_x: Vector, x: Vector) -> None:
    """Fill x with K' x, the features by which a parent hears of x: G' of S S' T' x."""
    for i in range(x.size):
        total = 0.0
        for j in range(x.size):
            total += maps[row, 3, i, j] * cov_x[j]
        x[i] = total


@inlined
def inherit(maps: Matrix, row: int, theta: Vector, heard: Vector) -> None:
    """Fill what a node hears of its parent's parameter, in its own coordinates: G theta."""
    for i in range(theta.size):
        total = 0.0
        for j in range(theta.size):
            total += maps[row, 1, i, j] * theta[j]
        heard[i] = total


def gains(own: Matrix, cov: Matrix, up: Matrix) -> Matrix:
    """K of nodes whose levels have T and G, `own` and `up`, and whose S S' is `cov`."""
    gain: Matrix = own @ cov @ up
    return gain
