"""The mean and the width of a probability whose log odds are Gaussian and wide."""

import numpy as np
from scipy.special import expit, ndtr

from hierbandits.types import Vector

WIDE = 1.5
"""Narrower log odds are for Gauss-Hermite nodes, whose errors grow with the width."""

DEEP = 30.0
"""So are those that reach only where p is next to 0 or 1: their mean is further off than the

variance and this.
"""

_FURTHEST, _NUMBER = 40.0, 40  # beyond this a probability is 0 or 1
_POINTS, _LENGTHS = np.polynomial.legendre.leggauss(_NUMBER)
_AWAY = _FURTHEST * (_POINTS + 1) / 2
_LENGTHS = _LENGTHS * _FURTHEST / 2
_TAIL = expit(-_AWAY)


def wide_logit(mean: Vector, std: Vector) -> tuple[Vector, Vector]:
    """The mean of p and its standard deviation, if the log odds of p are N(mean, std^2).

    p is a step from 0 to 1 at log odds of 0, and what it differs from that by, which is near 0:

        E[p] = P(eta > 0) + int_0^inf expit(-t) (N(-t) - N(t)) dt

    and the same for p^2.  A mean above 0 is that of 1 - p, so that no digits are lost near 1.
    """
    low = -np.abs(mean)
    below, above = (_density(sign * _AWAY, low, std) for sign in (-1.0, 1.0))  # (E, nodes)
    step = ndtr(low / std)
    centre = step + (below - above) @ (_LENGTHS * _TAIL)
    square = step + (below * _TAIL - above * (2.0 - _TAIL)) @ (_LENGTHS * _TAIL)
    spread = np.sqrt(np.maximum(square - centre * centre, 0.0))
    return np.where(mean > 0, 1.0 - centre, centre), spread


def _density(eta: Vector, mean: Vector, std: Vector) -> Vector:
    away = (eta - mean[:, None]) / std[:, None]
    density: Vector = np.exp(-(away**2) / 2) / (std[:, None] * np.sqrt(2 * np.pi))
    return density
