"""The forced start of the paper's concurrent analysis: a spanning set of arms in every task."""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from hierbandits.checks import real_array
from hierbandits.types import Indices, Matrix, Vector

FEW_SUBSETS = 20_000
"""Up to this many subsets are all tried."""


@dataclass(frozen=True, slots=True, eq=False)
class SpanningArms:
    """Arms that explore every direction of a set: lambda_min(sum a a') = eta on its span.

    [HBB, Assumption 1].  Where the arms do not span R^d they are projected onto their span, whose
    dimension is the number of arms chosen.
    """

    arms: Indices  # (rank,)
    eta: float

    @classmethod
    def of(cls, features: ArrayLike) -> "SpanningArms":
        """The best such arms among few subsets; else pivoted QR, improved by swaps."""
        table = real_array("features", features, (None, None))
        _, singular, right = np.linalg.svd(table, full_matrices=False)
        tolerance = max(table.shape) * np.finfo(float).eps * singular.max(initial=0.0)
        rank = int((singular > tolerance).sum())
        if rank == 0:
            return cls(np.empty(0, np.intp), 0.0)
        coordinates = table @ right[:rank].T  # (K, rank): within the span
        if comb(len(table), rank) <= FEW_SUBSETS:
            chosen = _exhaustive(coordinates)
        else:
            chosen = _swapped(coordinates)
        return cls(chosen, float(_etas(coordinates[chosen][None])[0]))


def _exhaustive(coordinates: Matrix) -> Indices:
    subsets = np.array(list(combinations(range(len(coordinates)), coordinates.shape[1])), np.intp)
    best: Indices = subsets[_etas(coordinates[subsets]).argmax()]
    return best


def _swapped(coordinates: Matrix) -> Indices:
    """Pivoted QR finds a well-conditioned start; swaps then raise eta while they can."""
    rank = coordinates.shape[1]
    *_, order = scipy.linalg.qr(coordinates.T, pivoting=True, mode="economic")
    chosen = order[:rank].astype(np.intp)
    eta = _etas(coordinates[chosen][None])[0]
    while True:
        best, best_eta = chosen, eta
        others = np.setdiff1d(np.arange(len(coordinates)), chosen)
        for place in range(rank):
            candidates = np.tile(chosen, (others.size, 1))
            candidates[:, place] = others
            etas = _etas(coordinates[candidates])
            if etas.max(initial=0.0) > best_eta * (1 + 1e-9):
                best, best_eta = candidates[etas.argmax()], etas.max()
        if best is chosen:
            return np.sort(chosen)
        chosen, eta = best, best_eta


def _etas(sets: Matrix) -> Vector:
    """lambda_min of sum a a' for each set, (sets, rank, rank): the least singular value squared."""
    return np.linalg.svd(sets, compute_uv=False)[:, -1] ** 2
