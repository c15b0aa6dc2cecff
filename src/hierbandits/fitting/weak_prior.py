"""The weak priors of a fit, which keep few tasks from giving nonsense."""

from dataclasses import dataclass

import numpy as np

from hierbandits.types import Matrix, Vector

COVARIANCE_WEIGHT = 0.5
"""The weight in the log density weight * (log det Sigma - tr Sigma), in the data's units."""

NOISE_WEIGHT = 0.01
"""The weight in the log density -weight / 2 * (log var + scale / var), in the data's units.

It counts as so many events of variance `scale`, which is that of rewards about their task's own
fit.  Where each arm has its noise, this is about the mean of their logs.
"""

NOISE_SPREAD = 1.0
"""The standard deviation of the arms' log noises about their mean, beforehand."""

_NEWTON_STEPS, _LEAST_STEP = 60, 1e-7


@dataclass(frozen=True, slots=True)
class WeakPrior:
    """Log densities, up to constants, that are added to the log evidence; zero weights add none.

    The density of a covariance vanishes at zero and infinity and is nearly flat between.  Its mode
    is the unit.
    """

    covariance_weight: float
    noise_weight: float
    noise_scale: float = 1.0

    @classmethod
    def of(cls, structure: str, dim: int, noise_scale: float = 1.0) -> "WeakPrior":
        """The weak prior of a structure; a scalar width counts once, however many coordinates."""
        weight = COVARIANCE_WEIGHT / dim if structure == "scalar" else COVARIANCE_WEIGHT
        return cls(weight, NOISE_WEIGHT, noise_scale)

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

    def log_noise(self, log_noise: Vector) -> float:
        """The log density of log noises, (1,) or (K,), up to a constant that no K changes.

        Their mean m has -weight / 2 * (2 m + scale exp(-2 m)); given it they are
        N(m, NOISE_SPREAD^2).
        """
        if self.noise_weight == 0.0:
            return 0.0
        mean, size = log_noise.mean(), log_noise.size
        apart = ((log_noise - mean) ** 2).sum() / NOISE_SPREAD**2 + np.log(size)
        apart += (size - 1) * np.log(2 * np.pi * NOISE_SPREAD**2)
        own = 2 * mean + self.noise_scale * np.exp(-2 * mean)
        return float(-self.noise_weight / 2 * own - apart / 2)

    def noise_slope(self, log_noise: Vector) -> Vector:
        """The derivatives of `log_noise`."""
        mean, size = log_noise.mean(), log_noise.size
        slope = self.noise_weight * (self.noise_scale * np.exp(-2 * mean) - 1) / size
        if self.noise_weight == 0.0 or size == 1:
            return np.full(size, slope)
        slopes: Vector = slope - (log_noise - mean) / NOISE_SPREAD**2
        return slopes

    def best_noise(self, square: Vector, events: Vector, log_noise: Vector) -> Vector:
        """Log noises l that raise -events l - square exp(-2 l) / 2 + their weak prior.

        One noise has its maximum in one step.  Several have Newton's steps, for the density is
        concave; they stay as they are if these should not rise.
        """

        def value(at: Vector) -> float:
            return float(-(events * at + square * np.exp(-2 * at) / 2).sum()) + self.log_noise(at)

        weight, size = self.noise_weight, square.size
        if size == 1:
            best: Vector = np.log((square + weight * self.noise_scale) / (events + weight)) / 2
            return best
        mean_var = np.exp(2 * log_noise.mean())
        at = np.log((square + mean_var) / (events + 1)) / 2
        spread = 1 / NOISE_SPREAD**2 if weight > 0 else 1e-9
        for _ in range(_NEWTON_STEPS):
            scatter = square * np.exp(-2 * at)
            slope = scatter - events + self.noise_slope(at)
            own = 2 * scatter + spread  # the curvature is diag(own) + shared
            shared = 2 * weight * self.noise_scale * np.exp(-2 * at.mean()) / size**2
            shared -= spread / size
            along = slope / own
            step = along - shared * along.sum() / (1 + shared * (1 / own).sum()) / own
            at = at + np.clip(step, -1.0, 1.0)
            if np.abs(step).max() < _LEAST_STEP:
                break
        return at if value(at) > value(log_noise) else log_noise

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
