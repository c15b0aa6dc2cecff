"""The forced start of the paper's concurrent analysis: a spanning set of arms in every task."""

from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from hierbandits.arms import Arms
from hierbandits.arrays import Indices, Matrix, Vector, real_array

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


class ForcedStart:
    """Which tasks still owe an arm of their spanning set, counted in decisions."""

    def __init__(self, decided: Indices) -> None:
        self.decided = decided  # the number of decisions of each node
        self._known: dict[bytes, Indices] = {}

    def apply(self, tasks: Indices, arms: Arms, choices: Indices) -> Indices:
        """Count the decisions, and replace the choices of tasks that are not explored yet.

        Returns the events replaced.
        """
        if self.decided.size <= tasks.max(initial=-1):
            grown = np.zeros(tasks.max() + 1 + self.decided.size // 2, np.int32)
            grown[: self.decided.size] = self.decided
            self.decided = grown
        most = arms.table.size if arms.table.ndim == 1 else arms.table.shape[1]
        forced = []
        young = self.decided[tasks] < most
        for event in np.flatnonzero(young):  # in order: a task may repeat in a round
            numbers = self._spanning(arms, int(event))
            turn = self.decided[tasks[event]]
            if turn < numbers.size:
                choices[event] = numbers[turn]
                forced.append(event)
            self.decided[tasks[event]] += 1
        np.add.at(self.decided, tasks[~young], 1)
        return np.array(forced, np.intp)

    def _spanning(self, arms: Arms, event: int) -> Indices:
        """The numbers of the spanning arms of an event's set."""
        rows = arms.rows_of(event)
        numbers: Indices = rows - arms.base[event]
        if arms.table.ndim == 1:  # K-armed: every arm once
            return numbers
        features = arms.table[rows]
        key = features.tobytes()
        if key not in self._known:
            self._known[key] = SpanningArms.of(features).arms
            for oldest in list(islice(self._known, max(0, len(self._known) - 10_000))):
                del self._known[oldest]
        spanning: Indices = numbers[self._known[key]]
        return spanning


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
