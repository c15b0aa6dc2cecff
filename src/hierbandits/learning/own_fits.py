"""Each task fitted by its own rows alone."""

from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import times, transposed
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.kernels.linear_forms import linear_forms
from hierbandits.learning.width_evidence import feature_sizes
from hierbandits.types import Indices, Matrix, Vector

_RANK = 1e-10  # relative eigenvalues below this are rounding


@dataclass(frozen=True, slots=True, eq=False)
class OwnFits:
    """Least squares, theta_s = (X'X)^+ X'Y; with arms, the mean reward of each."""

    theta: Matrix  # (tasks, d)
    inverse: Matrix  # (X'X)^+, (tasks, d, d), or (tasks, K) if armed
    rank: Indices  # of X'X, (tasks,)
    square: Vector  # Y'Y less what the fit explains, (tasks,)

    @classmethod
    def of(cls, sums: TaskSums) -> "OwnFits":
        """Fit these sums."""
        inverse, rank = pseudo_inverses(sums.xx, feature_sizes(sums))
        theta = times(inverse, sums.xy)
        square = np.maximum(sums.yy - (theta * sums.xy).sum(1), 0.0)
        return cls(theta, inverse, rank, square)

    def residuals(
        self, tasks: Indices, features: Matrix | Indices, rewards: Vector
    ) -> tuple[Vector, Vector]:
        """What the fit leaves of each row, and the row's leverage, h = x' (X'X)^+ x, (E,) each."""
        if features.ndim == 1:
            return rewards - self.theta[tasks, features], self.inverse[tasks, features]
        mean, leverage = np.empty((2, len(features)))
        linear_forms(tasks, np.asarray(features, float), self.theta, self.inverse, mean, leverage)
        return rewards - mean, leverage


def pseudo_inverses(xx: Matrix, sizes: Vector) -> tuple[Matrix, Indices]:
    """Pseudo-inverses of X'X, diagonals if armed, and ranks; features have these sizes."""
    if xx.ndim == 2:
        seen = xx > 0
        return np.where(seen, 1 / np.where(seen, xx, 1.0), 0.0), seen.sum(1)
    scale = np.outer(sizes, sizes)
    values, vectors = np.linalg.eigh(xx / scale)
    seen = values > _RANK * np.maximum(values[:, -1:], 1e-300)
    inverted = np.where(seen, 1 / np.where(seen, values, 1.0), 0.0)
    inverse: Matrix = (vectors * inverted[:, None, :]) @ transposed(vectors) / scale
    return inverse, seen.sum(1)
