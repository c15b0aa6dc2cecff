"""Estimates of a policy's mean reward from the moments of its weighted rows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from hierbandits.evaluation.moments import Moments
from hierbandits.types import Vector

WEIGHT, WEIGHTED, ROBUST, REWARD = range(4)
"""The values of a row: w = pi(a) / propensity, w r, q + w (r - q(a)), and r."""

LEAST_SIZE = 2.0
"""No interval is given below this effective sample size."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Mean rewards of a policy and its gains over the logged rewards, with intervals.

    One entry for each task, or a single one for all rows; NaN where the rows do not tell.
    """

    value: Vector
    error: Vector  # standard errors
    low: Vector
    high: Vector
    gain: Vector
    gain_low: Vector
    gain_high: Vector

    @classmethod
    def of(
        cls, value: Vector, error: Vector, gain: Vector, gain_error: Vector, reach: Vector | float
    ) -> "Estimates":
        """Intervals of `reach` standard errors to either side."""
        return cls(
            value, error, value - reach * error, value + reach * error,
            gain, gain - reach * gain_error, gain + reach * gain_error,
        )  # fmt: skip


def effective_size(moments: Moments) -> Vector:
    """(sum w)^2 / sum w^2: how many rows of equal weight would be as good, (tasks,)."""
    n, mean = moments.n, moments.mean[:, WEIGHT]
    square = moments.comoment[:, WEIGHT, WEIGHT] + n * mean**2
    return np.where(square > 0, (n * mean) ** 2 / np.where(square > 0, square, 1.0), 0.0)


def ips(moments: Moments, level: float) -> Estimates:
    """Inverse propensity scoring: the mean of w r."""
    return _of_mean(moments, WEIGHTED, level)


def doubly_robust(moments: Moments, level: float) -> Estimates:
    """The model's value corrected by its weighted errors: the mean of q + w (r - q(a))."""
    return _of_mean(moments, ROBUST, level)


def snips(moments: Moments, level: float) -> Estimates:
    """Self-normalised IPS: v = sum w r / sum w; its error, by the delta method, that of

    w (r - v) / mean(w).
    """
    mean = moments.mean[:, WEIGHT]
    some = mean > 0
    scale = 1 / np.where(some, mean, 1.0)
    value = np.where(some, moments.mean[:, WEIGHTED] * scale, np.nan)
    tilt = np.where(some, -value * scale, 0.0)
    error = moments.error(tilt, scale, 0.0, 0.0)
    gain_error = moments.error(tilt, scale, 0.0, -1.0)
    gain = value - moments.mean[:, REWARD]
    return Estimates.of(value, error, gain, gain_error, _reach(moments, level))


def logged(moments: Moments, level: float) -> Estimates:
    """The mean of the rewards themselves: the value of the policy that made the log."""
    value = _seen(moments, REWARD)
    error = moments.error(0.0, 0.0, 0.0, 1.0)
    return Estimates.of(value, error, 0.0 * value, 0.0 * error, student(level, moments.n - 1))


def student(level: float, degrees: Vector) -> Vector:
    """Half the width of a central Student t interval; NaN without degrees of freedom."""
    reach: Vector = stdtrit(np.where(degrees > 0, degrees, np.nan), 0.5 + level / 2)
    return reach


def normal(level: float) -> float:
    """Half the width of a central normal interval."""
    return float(ndtri(0.5 + level / 2))


def _of_mean(moments: Moments, part: int, level: float) -> Estimates:
    value = _seen(moments, part)
    one = np.eye(4)
    error = moments.error(*one[part])
    gain_error = moments.error(*(one[part] - one[REWARD]))
    gain = value - moments.mean[:, REWARD]
    return Estimates.of(value, error, gain, gain_error, _reach(moments, level))


def _seen(moments: Moments, part: int) -> Vector:
    return np.where(moments.n > 0, moments.mean[:, part], np.nan)


def _reach(moments: Moments, level: float) -> Vector:
    """Student's t, its degrees of freedom the effective sample size less one.

    Few matching rows decide an estimate whatever the number of rows, and with less than two of
    them its spread is not known at all.
    """
    size = effective_size(moments)
    return student(level, np.where(size < LEAST_SIZE, np.nan, size - 1))


ESTIMATORS: dict[str, Callable[[Moments, float], Estimates]] = {
    "ips": ips,
    "snips": snips,
    "dr": doubly_robust,
}
"""What needs propensities; the direct method is in `direct`."""
