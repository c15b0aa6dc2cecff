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


def effective_size(moments: Moments) -> Vector:
    """(sum w)^2 / sum w^2: how many rows of equal weight would be as good, (tasks,)."""
    n, mean = moments.n, moments.mean[:, WEIGHT]
    square = moments.comoment[:, WEIGHT, WEIGHT] + n * mean**2
    return np.where(square > 0, (n * mean) ** 2 / np.where(square > 0, square, 1.0), 0.0)


def ips(moments: Moments, confidence: float) -> Estimates:
    """Inverse propensity scoring: the mean of w r."""
    return _of_mean(moments, WEIGHTED, confidence)


def doubly_robust(moments: Moments, confidence: float) -> Estimates:
    """The model's value corrected by its weighted errors: the mean of q + w (r - q(a))."""
    return _of_mean(moments, ROBUST, confidence)


def snips(moments: Moments, confidence: float) -> Estimates:
    """Self-normalised IPS: v = sum w r / sum w.

    By the delta method its error is the error of the mean of w (r - v) / mean(w).
    """
    mean = moments.mean[:, WEIGHT]
    some = mean > 0
    scale = 1 / np.where(some, mean, 1.0)
    value = np.where(some, moments.mean[:, WEIGHTED] * scale, np.nan)
    tilt = np.where(some, -value * scale, 0.0)
    error = moments.error(tilt, scale, 0.0, 0.0)
    improvement = value - moments.mean[:, REWARD]
    improvement_error = moments.error(tilt, scale, 0.0, -1.0)
    return Estimates.of(value, error, improvement, improvement_error, _reach(moments, confidence))


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


def _of_mean(moments: Moments, part: int, confidence: float) -> Estimates:
    """The mean of one of a row's values."""
    value = _known_means(moments, part)
    one = np.eye(4)
    error = moments.error(*one[part])
    improvement = value - moments.mean[:, REWARD]
    improvement_error = moments.error(*(one[part] - one[REWARD]))
    return Estimates.of(value, error, improvement, improvement_error, _reach(moments, confidence))


def _known_means(moments: Moments, part: int) -> Vector:
    """The means of one of a row's values; NaN without rows."""
    return np.where(moments.n > 0, moments.mean[:, part], np.nan)


def _reach(moments: Moments, confidence: float) -> Vector:
    """Student's t, with the effective sample size less one as its degrees of freedom.

    Few rows of large weight decide an estimate, however many rows there are.  Fewer than two of
    them do not tell how far the estimate may be off, so there is no interval.
    """
    size = effective_size(moments)
    return student(confidence, np.where(size < LEAST_SIZE, np.nan, size - 1))


ESTIMATORS: dict[str, Callable[[Moments, float], Estimates]] = {
    "ips": ips,
    "snips": snips,
    "dr": doubly_robust,
}
"""The methods that need propensities; see `direct` for the one that does not."""
