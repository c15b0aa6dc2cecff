"""The weak priors of a fit, which keep few tasks from giving nonsense."""

from dataclasses import dataclass

import numpy as np

from hierbandits.types import Matrix, Vector

COVARIANCE_WEIGHT = 0.5
"""The weight in the log density weight * (log det Sigma - tr Sigma), in the data's units."""

NOISE_WEIGHT = 0.01
"""The weight in the log density -weight / 2 * (log var + 1 / var), in the data's units.

It counts as so many events.
"""


@dataclass(frozen=True, slots=True)
class WeakPrior:
    """Log densities, up to constants, that are added to the log evidence; zero weights add none.

    The density of a covariance vanishes at zero and infinity and is nearly flat between.  Its mode
    is the unit.
    """

    covariance_weight: float
    noise_weight: float

    @classmethod
    def of(cls, structure: str, dim: int) -> "WeakPrior":
        """The weak prior of a structure; a scalar width counts once, however many coordinates."""
        weight = COVARIANCE_WEIGHT / dim if structure == "scalar" else COVARIANCE_WEIGHT
        return cls(weight, NOISE_WEIGHT)

    @classmethod
    def none(cls) -> "WeakPrior":
        """No weak prior: fits are by maximum likelihood."""
        return cls(0.0, 0.0)

    def log_covariance(self, cov: Matrix) -> float:
        """weight * (log det Sigma - tr Sigma)."""
        if self.covariance_weight == 0.0:
            return 0.0
        if cov.ndim == 1:
            return self.covariance_weight * float(np.log(cov).sum() - cov.sum())
        return self.covariance_weight * float(np.linalg.slogdet(cov)[1] - np.trace(cov))

    def covariance_slope(self, cov: Matrix) -> Matrix:
        """The derivative of `log_covariance` by Sigma."""
        if self.covariance_weight == 0.0:
            return np.zeros_like(cov)
        if cov.ndim == 1:
            return self.covariance_weight * (1 / cov - 1)
        return self.covariance_weight * (np.linalg.inv(cov) - np.eye(len(cov)))

    def log_noise(self, noise_var: float) -> float:
        """-weight / 2 * (log var + 1 / var)."""
        return float(-self.noise_weight / 2 * (np.log(noise_var) + 1 / noise_var))

    def best_variances(self, scatter: Vector, count: int) -> Vector:
        """The variances v that maximise -(count log v + scatter / v) / 2 + weight (log v - v).

        They solve weight v^2 + k v = scatter / 2 with k = count / 2 - weight.
        """
        k = count / 2 - self.covariance_weight
        root = np.sqrt(k**2 + 2 * self.covariance_weight * scatter)
        if k > 0:
            positive: Vector = scatter / (k + root)
            return positive
        other: Vector = (root - k) / (2 * self.covariance_weight)
        return other
