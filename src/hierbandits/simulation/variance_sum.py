"""V(m, n): the posterior variances of the arms that a simulation played."""

import numpy as np

from hierbandits.beliefs.gaussian import Prediction
from hierbandits.policies.arms import Arms
from hierbandits.policies.spanning_arms import SpanningArms
from hierbandits.types import Indices, Matrix


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
