"""Estimates of a policy's mean reward from the moments of its weighted rows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from hierbandits.evaluation.moments import Moments
from hierbandits.types import Vector

WEIGHT, WEIGHTED, ROBUST, REWARD = range(4)
"""The values of a row: w = pi(a) / propensity, w r, q + w (r - q(a)), and r."""

LEAST_SIZE = 2.0
"""No interval is given below this effective sample size."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Mean rewards of a policy and its improvements over the logged rewards, with intervals.

    One entry for each task, or a single one for all rows; NaN where the rows do not tell.
    """

    value: Vector
    error: Vector  # standard errors
    low: Vector
    high: Vector
    improvement: Vector
    improvement_low: Vector
    improvement_high: Vector

    @classmethod
    def of(
        cls,
        value: Vector,
        error: Vector,
        improvement: Vector,
        improvement_error: Vector,
        reach: Vector | float,
    ) -> "Estimates":
        """Intervals of `reach` standard errors to either side."""
        half = reach * improvement_error
        return cls(
            value, error, value - reach * error, value + reach * error,
            improvement, improvement - half, improvement + half,
        )  # fmt: skip


def effective_size(moments: Moments, part: int = WEIGHT) -> Vector:
    """(sum w)^2 / sum w^2: how many rows of equal weight would be as good, (tasks,).

    `part` is the place of w among the values.
    """
    n, mean = moments.n, moments.mean[:, part]
    square = moments.comoment[:, part, part] + n * mean**2
    return np.where(square > 0, (n * mean) ** 2 / np.where(square > 0, square, 1.0), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """An estimate as a mean over rows: of `tilt` w + `scale` w r + `robust` times the DR term.

    Its error is the error of that mean, and so is the error of the difference of two of them.
    """

    value: Vector
    tilt: Vector | float
    scale: Vector | float
    robust: float

    def weights(self) -> tuple[Vector | float, Vector | float, Vector | float]:
        """The weights of a row's first three values."""
        return self.tilt, self.scale, self.robust


def ips(moments: Moments) -> Linear:
    """Inverse propensity scoring: the mean of w r."""
    return Linear(_known_means(moments, WEIGHTED), 0.0, 1.0, 0.0)


def doubly_robust(moments: Moments) -> Linear:
    """The model's value corrected by its weighted errors: the mean of q + w (r - q(a))."""
    return Linear(_known_means(moments, ROBUST), 0.0, 0.0, 1.0)


def snips(moments: Moments) -> Linear:
    """Self-normalised IPS: v = sum w r / sum w.

    By the delta method its error is the error of the mean of w (r - v) / mean(w).
    """
    mean = moments.mean[:, WEIGHT]
    some = mean > 0
    scale = 1 / np.where(some, mean, 1.0)
    value = np.where(some, moments.mean[:, WEIGHTED] * scale, np.nan)
    return Linear(value, np.where(some, -value * scale, 0.0), scale, 0.0)


def estimate(
    method: str, moments: Moments, confidence: float, beside: Vector | float = 0.0
) -> Estimates:
    """The estimates by one of the methods that need propensities.

    `beside` are errors that rows do not show: the model's, where it alone speaks.
    """
    linear = ESTIMATORS[method](moments)
    error = np.hypot(moments.error(*linear.weights(), 0.0), beside)
    improvement = linear.value - moments.mean[:, REWARD]
    improvement_error = np.hypot(moments.error(*linear.weights(), -1.0), beside)
    reach = student(confidence, degrees(effective_size(moments)))
    return Estimates.of(linear.value, error, improvement, improvement_error, reach)


def logged(moments: Moments, confidence: float) -> Estimates:
    """The mean of the rewards themselves: the value of the policy that made the log."""
    value = _known_means(moments, REWARD)
    error = moments.error(0.0, 0.0, 0.0, 1.0)
    reach = student(confidence, moments.n - 1)
    return Estimates.of(value, error, 0.0 * value, 0.0 * error, reach)


def student(confidence: float, degrees: Vector) -> Vector:
    """Half the length of a central Student t interval; NaN without degrees of freedom."""
    reach: Vector = stdtrit(np.where(degrees > 0, degrees, np.nan), 0.5 + confidence / 2)
    return reach


def _known_means(moments: Moments, part: int) -> Vector:
    """The means of one of a row's values; NaN without rows."""
    return np.where(moments.n > 0, moments.mean[:, part], np.nan)


def degrees(size: Vector) -> Vector:
    """The degrees of freedom of Student's t: the effective sample size less one.

    Few rows of large weight decide an estimate, however many rows there are.  Fewer than two of
    them do not tell how far the estimate may be off, so there is no interval.
    """
    freedom: Vector = np.where(size < LEAST_SIZE, np.nan, size - 1)
    return freedom


ESTIMATORS: dict[str, Callable[[Moments], Linear]] = {
    "ips": ips,
    "snips": snips,
    "dr": doubly_robust,
}
"""The methods that need propensities; see `direct` for the one that does not."""
