"""The posterior of every arm's mean reward in every task."""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from hierbandits.algebra import square_root
from hierbandits.beliefs.gaussian import Prediction
from hierbandits.beliefs.mean_reward import MeanReward
from hierbandits.beliefs.posterior import Posterior
from hierbandits.policies.belief_view import BeliefView
from hierbandits.types import Indices, Matrix

Known = TypeVar("Known", bound=Posterior)
"""The kind of belief that the posteriors are of."""


@dataclass(frozen=True, slots=True, eq=False)
class ArmPosteriors(Generic[Known]):
    """The posterior of every arm's mean reward, in a table with a row for each task.

    A pooled belief has one row for each population, which its tasks share.  Where arms have their
    features by a context, events take the place of tasks: each has a row, and `covs`.
    """

    belief: Known
    table: Matrix | None  # the arms' features, (K, d); None when armed
    row: Indices  # the row of each task, (tasks,)
    prediction: Prediction  # (rows, K) each
    covs: Matrix | None = None  # of the arms of each event, (events, K, K)
    tasks: Indices | None = None  # of each event

    @classmethod
    def of(cls, belief: Known, table: Matrix | None, row: Indices) -> "ArmPosteriors[Known]":
        """Predict every arm in the belief's first nodes; row r of the table is node r."""
        num_arms = belief.dim if table is None else len(table)
        features = np.arange(num_arms) if table is None else table
        num_rows = int(row.max()) + 1
        nodes = np.repeat(np.arange(num_rows), num_arms)
        rows = np.tile(np.arange(num_arms), num_rows)
        parts = BeliefView(belief).predict_rows(nodes, features, rows)
        prediction = Prediction(*(part.reshape(num_rows, num_arms) for part in parts))
        return cls(belief, table, row, prediction)

    @property
    def draw_dim(self) -> int:
        """How many normals make a draw."""
        return self.belief.dim if self.covs is None else self.covs.shape[1]

    def whose(self, tasks: Indices) -> Indices:
        """Whose draws these tasks or events have: events of a task have the same ones."""
        return tasks if self.tasks is None else self.tasks[tasks]

    @property
    def means(self) -> Matrix:
        """The posterior mean of every arm's mean reward in every task, (tasks, K)."""
        return self._mean_rewards.mean.reshape(self.prediction.mean.shape)[self.row]

    @property
    def slopes(self) -> Matrix:
        """How far mean rewards move with their linear predictors, (tasks, K); 1 if Gaussian."""
        linear = self.prediction.std
        moved = self._mean_rewards.std.reshape(linear.shape)
        return np.divide(moved, linear, out=np.zeros_like(linear), where=linear > 0)[self.row]

    @property
    def _mean_rewards(self) -> MeanReward:
        linear = self.prediction
        return self.belief._raw_mean_reward(linear.mean.ravel(), linear.std.ravel())

    def drawn(self, tasks: Indices, normals: Matrix) -> Matrix:
        """Posterior draws of the arms' mean rewards, (n, draws, K).

        `normals` are (n, draws, draw_dim).
        """
        rows = self.row[tasks]
        if self.covs is not None:
            mean, roots = self.prediction.mean[rows, None], map(square_root, self.covs[rows])
            return mean + normals @ np.stack([root.T for root in roots])
        if self.table is None and self.belief.is_diagonal:
            mean, std = self.prediction.mean[rows, None], self.prediction.std[rows, None]
            armed: Matrix = mean + std * normals
            return armed
        draws = np.empty((*normals.shape[:2], self.prediction.mean.shape[1]))
        for i, row in enumerate(rows.tolist()):
            posterior = self.belief.task(row)
            theta = posterior.mean + normals[i] @ square_root(posterior.cov).T
            draws[i] = theta if self.table is None else theta @ self.table.T
        return draws
