"""Upper bounds of the regret of every arm in every task, by comparisons between arms."""

from dataclasses import dataclass

import numpy as np

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.frozen_rules import evenly
from hierbandits.types import Indices, Mask, Matrix

CHUNK = 4_000_000  # differences at a time


@dataclass(frozen=True, slots=True, eq=False)
class RegretBounds:
    """How much less than the best arm of its task an arm may earn.

        bound(a) = max over the other arms b of  mean_b - mean_a + alpha std(b - a)

    As a frozen policy it plays the arm of least bound; equal ones share.  alpha = 0 is greedy.
    """

    mean: Matrix  # (tasks, K)
    covs: Matrix  # of the tasks' arms, (tasks, K) if these are independent; or of theta, or all
    table: Matrix | None  # the arms' features, (K, d)
    alpha: float

    @classmethod
    def of(cls, model: ArmPosteriors[Belief], alpha: float) -> "RegretBounds":
        """The bounds under a reward model of all tasks."""
        if model.covs is not None:
            return cls(model.means, model.covs, None, alpha)
        if model.table is None and model.belief.is_diagonal:
            covs: Matrix = model.prediction.within_var + model.prediction.shared_var
        else:
            covs = TaskPosteriors.of(model.belief).covs
        if not model.belief.IS_GAUSSIAN:  # of mean rewards, where covariances are of predictors
            slopes = model.slopes
            covs = covs * (slopes**2 if covs.ndim == 2 else slopes[:, :, None] * slopes[:, None, :])
        return cls(model.means, covs, model.table, alpha)

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """All probability on the eligible arm of least bound."""
        bounds = self.bounds(tasks, eligible)
        return evenly(tasks, bounds == bounds.min(axis=1, keepdims=True))

    def bounds(self, tasks: Indices, eligible: Mask) -> Matrix:
        """The bounds among these arms, (n, K); infinite for others, zero if there is but one."""
        num_arms = eligible.shape[1]
        bounds = np.empty(eligible.shape)
        step = max(1, CHUNK // num_arms**2)
        for start in range(0, tasks.size, step):
            part = slice(start, start + step)
            bounds[part] = self._bounds(tasks[part], eligible[part])
        return bounds

    def _bounds(self, tasks: Indices, eligible: Mask) -> Matrix:
        mean = self.mean[tasks]
        lost = mean[:, None, :] - mean[:, :, None] + self.alpha * self._stds(tasks)
        each = np.arange(eligible.shape[1])
        lost[:, each, each] = np.where(eligible.sum(axis=1)[:, None] > 1, -np.inf, 0.0)
        worst = np.where(eligible[:, None, :], lost, -np.inf).max(axis=2)
        bounds: Matrix = np.where(eligible, worst, np.inf)
        return bounds

    def _stds(self, tasks: Indices) -> Matrix:
        """The posterior standard deviation of b - a, (n, K, K)."""
        covs = self.covs[tasks]
        if covs.ndim == 2:
            return np.sqrt(covs[:, None, :] + covs[:, :, None])
        if self.table is not None:
            covs = self.table @ covs @ self.table.T
        var = np.einsum("saa->sa", covs)
        stds: Matrix = np.sqrt(np.maximum(var[:, None, :] + var[:, :, None] - 2 * covs, 0.0))
        return stds
