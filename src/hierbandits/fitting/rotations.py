"""The rotations of loadings: G and G Q say the same of a covariance G G' + diag(v)."""

from dataclasses import dataclass
from math import lgamma, log, pi

import numpy as np

from hierbandits.types import Matrix

_LEAST_SIZE = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Rotations:
    """All G Q of one G, Q in O(rank): a surface in the space of loadings, (d, rank).

    A density that no rotation changes has its top on such a surface.  By Laplace's method its
    integral is the surface's volume times that over the directions across the surface.  With one
    factor the surface is G and -G, two points.
    """

    along: Matrix  # orthonormal directions along the surface, one in each row, (n, d * rank)
    log_volume: float

    @classmethod
    def of(cls, loading: Matrix) -> "Rotations":
        """Those of these loadings.

        Antisymmetric matrices E_ij - E_ji move G along the surface, in as many directions as there
        are pairs of factors.  In their coordinates O(r) has the volume of the spheres S^0 to
        S^(r-1), one times the next, and G stretches it by the volume that the moves span.
        """
        rank = loading.shape[1]
        moves = np.zeros((rank * (rank - 1) // 2, loading.size))
        for move, (i, j) in zip(moves, zip(*np.triu_indices(rank, 1), strict=True), strict=True):
            turn = np.zeros((rank, rank))
            turn[i, j], turn[j, i] = 1.0, -1.0
            move[:] = (loading @ turn).ravel()
        spheres = [log(2) + k / 2 * log(pi) - lgamma(k / 2) for k in range(1, rank + 1)]
        if not len(moves):
            return cls(moves, sum(spheres))
        _, sizes, along = np.linalg.svd(moves, full_matrices=False)
        stretched = float(np.log(np.maximum(sizes, _LEAST_SIZE)).sum())
        return cls(along, sum(spheres) + stretched)
