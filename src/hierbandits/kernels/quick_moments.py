"""What a count tells of a narrow linear predictor, by a fixed sum in plain arithmetic.

The linear predictor is eta ~ N(m, q), and Z is the mean of p(y | eta).  The derivatives of log Z by
m tell all: eta has the mean m + q (log Z)' given the reward, and the variance q + q^2 (log Z)''.
"""

from math import log, sqrt

import numpy as np

from hierbandits.compiler import inlined
from hierbandits.kernels.plain_functions import plain_exp

_NUMBER, _STEP = 16, 0.75
_NODES = _STEP * (np.arange(_NUMBER) - (_NUMBER - 1) / 2)
_BELL = np.exp(-(_NODES**2) / 2)
_EACH = 1.0 / float(_BELL.sum())

_NEAR, _NARROW, _SKEWED = 0.6**2, 0.8**2, 0.2**2
"""Of a count: how far the mode is, the width, and the skewness, all squared, at most.

Its moments are then right to 1e-7.
"""

_MOST = 1e11  # of a rate: a larger one has lost the digits that the sum needs

FURTHEST = 600.0
"""Means beyond it are not for these sums: `plain_exp` is cut at 700."""

Moments = tuple[float, float, float]
"""log Z, its derivative by the mean, and its second derivative with its sign changed."""


@inlined
def count_moments(count: float, exposure: float, mean: float, var: float) -> Moments:
    """Of a count whose log rate is eta, but for the base; curvature -1 where the sum will not do.

    The nodes are about where a step of Newton's method leads, which is near the mode.  The slope is
    the mean of count - rate given the count, and the curvature the mean of the rate less its
    variance.
    """
    rate = exposure * plain_exp(mean)
    width_var = var / (1.0 + var * rate)
    told = width_var * rate
    step = width_var * (count - rate)
    if not (
        step * step <= _NEAR * width_var
        and width_var < _NARROW
        and told * told * width_var < _SKEWED
        and rate < _MOST
    ):
        return 0.0, 0.0, -1.0
    width, half = sqrt(width_var), 0.5 / var
    top = rate * (1.0 + step * (1.0 + 0.5 * step))  # nearly the rate there
    total, slope, square = 0.0, 0.0, 0.0
    for i in range(_NUMBER):
        away = width * _NODES[i]
        here = exposure * plain_exp(mean + step + away)
        fall = here - top + away * (away + 2.0 * step) * half
        weight = plain_exp(count * away - fall)
        total += weight
        slope += weight * (count - here)
        square += weight * (here - rate) * (here - rate)
    slope /= total
    log_z = (
        log(_EACH * total * width / sqrt(var)) + count * (mean + step) - top - step * step * half
    )
    about = slope - count + rate  # the mean rate, with its sign changed, about the first one
    return log_z, slope, count - slope - (square / total - about * about)
