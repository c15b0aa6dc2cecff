"""Quantiles of mixtures of Betas or Gammas: where the mean reward of an arm lies."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, expit, gammainc

from hierbandits.kernels.hyper_grid import GAMMA
from hierbandits.types import Vector

LEAST = 1e-3
"""Cells with less than this share of the heaviest one's weight are left out."""

_NEAR, _FAR = 0.5, 800.0  # steps on the scale of log odds or of logs


def mixture_interval(
    kind: int,
    ups: Vector,
    precisions: Vector,
    weights: Vector,
    had: float,
    over: float,
    tail: float,
) -> tuple[float, float]:
    """What a parameter with these sums is below, and above, with the probability `tail`.

    The first three are e^x, 1 / t^2 and the weight of each cell: see `kernels.hyper_grid`.
    """
    heavy = np.flatnonzero(weights >= LEAST * weights.max())
    up, u, w = ups[heavy], precisions[heavy], weights[heavy] / weights[heavy].sum()
    if kind == GAMMA:
        a, b = u + had, u / up + over
        centre = float(np.log(w @ (a / b)))
    else:
        a, b = u + u * up + had, u + u / up + (over - had)
        centre = float(np.log((w @ (a / (a + b))) / (w @ (b / (a + b)))))

    def below(place: float, share: float) -> float:
        """How much more than a share lies below e^place, or below its log odds."""
        if kind == GAMMA:
            return float(w @ gammainc(a, b * np.exp(place))) - share
        return float(w @ betainc(a, b, expit(place))) - share

    ends = [_root(below, share, centre) for share in (tail, 1 - tail)]
    low, high = np.exp(ends) if kind == GAMMA else expit(ends)
    return float(low), float(high)


def _root(below: Callable[[float, float], float], share: float, centre: float) -> float:
    """Where a share lies below, on a scale without ends."""
    side = -1.0 if below(centre, share) > 0 else 1.0
    step, near = _NEAR, centre
    while step < _FAR and side * below(centre + side * step, share) < 0:
        near, step = centre + side * step, 2 * step
    far = centre + side * step
    if side * below(far, share) < 0:  # it is as good as at an end
        return far
    return float(brentq(below, min(near, far), max(near, far), args=(share,), xtol=1e-9))
