"""V(m, n): the sum of the posterior variances of the arms that a simulation played."""

import numpy as np

from hierbandits.beliefs.gaussian import Prediction
from hierbandits.policies.arms import Arms
from hierbandits.policies.spanning_arms import SpanningArms
from hierbandits.types import Indices, Matrix, Vector


class VarianceSum:
    """V(m, n) of each run, once over all tasks and once over the explored ones, C_t.

    A task is explored as soon as lambda_min of the sum of its x x' has reached eta, where eta is
    that of the first action set of the task.  [HBB, proof of Theorem concurrent regret]
    """

    def __init__(self, runs: int, num_tasks: int) -> None:
        self.total: Vector = np.zeros(runs)
        self.explored: Vector = np.zeros(runs)
        self._grams: Matrix | None = None  # sums of x x', (runs, tasks, d, d)
        self._etas: dict[bytes, float] = {}  # of action sets met so far
        self._is_explored = np.zeros((runs, num_tasks), np.bool_)
        self._eta = np.full((runs, num_tasks), np.nan)

    def add(
        self,
        run: Indices,
        task: Indices,
        arms: Arms,
        features: Matrix | Indices,
        prediction: Prediction,
    ) -> None:
        """Add the variances of a round's arms, as predicted before its rewards are learned."""
        dim = arms.table.shape[1] if arms.table.ndim == 2 else int(arms.table.max()) + 1
        vectors = features if arms.table.ndim == 2 else np.eye(dim)[features]
        if self._grams is None:
            self._grams = np.zeros((*self._is_explored.shape, dim, dim))
        for e in np.flatnonzero(np.isnan(self._eta[run, task])):
            self._eta[run[e], task[e]] = self._eta_of(arms, int(e), dim)
        self._mark_explored(self._grams, run, task)
        var = prediction.within_var + prediction.shared_var
        self.total += np.bincount(run, var, self.total.size)
        explored = self._is_explored[run, task]
        self.explored += np.bincount(run[explored], var[explored], self.total.size)
        np.add.at(self._grams, (run, task), vectors[:, :, None] * vectors[:, None, :])

    def _mark_explored(self, grams: Matrix, run: Indices, task: Indices) -> None:
        """Mark those of the round's tasks whose past arms span all directions by now."""
        unexplored = ~self._is_explored[run, task]
        run, task = run[unexplored], task[unexplored]
        least = np.linalg.eigvalsh(grams[run, task])[:, 0]
        self._is_explored[run, task] = least >= self._eta[run, task] * (1 - 1e-9)

    def _eta_of(self, arms: Arms, event: int, dim: int) -> float:
        """eta of an event's action set, or infinity if the set does not span R^d."""
        if arms.table.ndim == 1:
            return 1.0
        features = arms.table[arms.rows_of(event)]
        key = features.tobytes()
        if key not in self._etas:
            spanning = SpanningArms.of(features)
            self._etas[key] = spanning.eta if spanning.arms.size == dim else np.inf
        return self._etas[key]
