"""What a simulation keeps of its rounds: a thinned curve, and the variances of what was played."""

import numpy as np

from hierbandits.arms import Arms
from hierbandits.arrays import Indices, Matrix, Vector
from hierbandits.exploration import SpanningArms
from hierbandits.gaussian import Prediction


class Curve:
    """Cumulative regret at no more than twice `points` evenly spaced rounds, and at the last."""

    def __init__(self, points: int) -> None:
        self._points = points
        self._stride = 1
        self._rounds: list[int] = []
        self._values: list[Vector] = []

    def add(self, rounds: int, regret: Vector) -> None:
        """Keep the regret after so many rounds, if it is their turn."""
        if rounds % self._stride == 0:
            self._rounds.append(rounds)
            self._values.append(regret.copy())
        if len(self._rounds) == 2 * self._points:
            self._stride *= 2
            self._rounds, self._values = self._rounds[1::2], self._values[1::2]

    def finished(self, rounds: int, regret: Vector) -> tuple[Indices, Matrix]:
        """The rounds kept, (points,), and the values of every run, (runs, points)."""
        if not self._rounds or self._rounds[-1] != rounds:
            self._rounds.append(rounds)
            self._values.append(regret.copy())
        return np.array(self._rounds), np.stack(self._values, axis=1)


class Variance:
    """V(m, n) of each run, in all tasks and in the sufficiently explored ones, C_t.

    A task is explored once lambda_min of the sum of its x x' has reached the eta of its arms,
    that of its first action set.  [HBB, proof of Theorem concurrent regret]
    """

    def __init__(self, runs: int, num_tasks: int) -> None:
        self.total = np.zeros(runs)
        self.explored = np.zeros(runs)
        self._grams: Matrix | None = None
        self._etas: dict[bytes, float] = {}
        self._done = np.zeros((runs, num_tasks), np.bool_)
        self._eta = np.full((runs, num_tasks), np.nan)

    def add(
        self, run: Indices, task: Indices, arms: Arms, features: Matrix | Indices, found: Prediction
    ) -> None:
        """Count the arms played in a round, before their rewards are learned."""
        dim = arms.table.shape[1] if arms.table.ndim == 2 else int(arms.table.max()) + 1
        vectors = features if arms.table.ndim == 2 else np.eye(dim)[features]
        if self._grams is None:
            self._grams = np.zeros((*self._done.shape, dim, dim))
        for e in np.flatnonzero(np.isnan(self._eta[run, task])):
            self._eta[run[e], task[e]] = self._eta_of(arms, int(e), dim)
        self._check(run, task)
        var = found.within_var + found.shared_var
        self.total += np.bincount(run, var, self.total.size)
        seen = self._done[run, task]
        self.explored += np.bincount(run[seen], var[seen], self.total.size)
        np.add.at(self._grams, (run, task), vectors[:, :, None] * vectors[:, None, :])

    def _check(self, run: Indices, task: Indices) -> None:
        assert self._grams is not None
        young = ~self._done[run, task]
        run, task = run[young], task[young]
        least = np.linalg.eigvalsh(self._grams[run, task])[:, 0]
        self._done[run, task] = least >= self._eta[run, task] * (1 - 1e-9)

    def _eta_of(self, arms: Arms, event: int, dim: int) -> float:
        if arms.table.ndim == 1:
            return 1.0
        features = arms.table[arms.rows_of(event)]
        key = features.tobytes()
        if key not in self._etas:
            spanning = SpanningArms.of(features)
            self._etas[key] = spanning.eta if spanning.arms.size == dim else np.inf
        return self._etas[key]
