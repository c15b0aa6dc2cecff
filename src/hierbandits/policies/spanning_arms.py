"""Spanning arms: the few arms of a set that explore every direction of it."""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from hierbandits.checks import real_array
from hierbandits.types import Indices, Matrix, Vector

FEW_SUBSETS = 20_000
"""If there are no more subsets than this, all are tried."""


@dataclass(frozen=True, slots=True, eq=False)
class SpanningArms:
    """As many arms of a set as its span has dimensions, with lambda_min(sum a a') = eta there.

    [HBB, Assumption 1].  Arms that do not span R^d are projected onto their span first.
    """

    arms: Indices  # (rank,) their places in the set
    eta: float

    @classmethod
    def of(cls, features: ArrayLike) -> "SpanningArms":
        """The arms of largest eta; an approximation if there are more than FEW_SUBSETS subsets."""
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
    """The best of all subsets."""
    subsets = np.array(list(combinations(range(len(coordinates)), coordinates.shape[1])), np.intp)
    best: Indices = subsets[_etas(coordinates[subsets]).argmax()]
    return best


def _swapped(coordinates: Matrix) -> Indices:
    """A good subset: pivoted QR finds a start, and swaps of one arm raise eta while they can."""
    rank = coordinates.shape[1]
    *_, order = scipy.linalg.qr(coordinates.T, pivoting=True, mode="economic")
    chosen = order[:rank].astype(np.intp)
    eta = _etas(coordinates[chosen][None])[0]
    while True:
        best, best_eta = chosen, eta
        others = np.setdiff1d(np.arange(len(coordinates)), chosen)
        for place in range(rank):
            swapped = np.tile(chosen, (others.size, 1))
            swapped[:, place] = others
            etas = _etas(coordinates[swapped])
            if etas.max(initial=0.0) > best_eta * (1 + 1e-9):
                best, best_eta = swapped[etas.argmax()], etas.max()
        if best is chosen:
            return np.sort(chosen)
        chosen, eta = best, best_eta


def _etas(sets: Matrix) -> Vector:
    """lambda_min(sum a a') of each set of (sets, rank, rank): its least singular value squared."""
    return np.linalg.svd(sets, compute_uv=False)[:, -1] ** 2
