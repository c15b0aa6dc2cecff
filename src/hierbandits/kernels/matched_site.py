"""Moment matching: the Gaussian site that stands for one reward of any family.

Before the reward, the linear predictor is eta ~ N(m, q).  After it, it has the density

    p(y | eta) N(eta; m, q) / Z

with mean m' and variance q'.  The site exp(b eta - a eta^2 / 2) with a = 1 / q' - 1 / q and
b = m' / q' - m / q makes a Gaussian of the same moments.  So the site is an observation of eta of
precision a, and log Z is the reward's part of the log evidence.
"""

from math import copysign, exp, log, pi, sqrt

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.family_call import FamilyCode, call_family

NARROW = 0.4
"""Below this standard deviation of eta, Gauss-Hermite's few nodes are as good as a long sum."""

SKEWED = 0.06
"""And if what the reward tells is hardly skewed on this scale."""

NEGLIGIBLE = 1e-12
"""A site that changes no more than this, in units of what is known, is left empty."""

_CLOSE = 0.3  # how near the mode is near enough, in standard deviations
_STEPS = 200  # to the mode, at most
_STEP = 0.6  # of the long sum, on the scale on which links bend
_LOWEST = -20.0  # log of what is left out, over what is highest
_MOST = 400  # terms on each side

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_WEIGHTS = _WEIGHTS * np.exp(_NODES**2 / 2) / sqrt(2 * pi)  # of the integrand without its Gaussian


@inlined
def find_mode(
    code: FamilyCode, reward: float, exposure: float, shape: float, mean: float, var: float
) -> tuple[float, float]:
    """A point near the mode of p(y | eta) N(eta; mean, var), and the width of a Gaussian there.

    Newton's steps, with the mode between two bounds once they are known: log densities are concave.
    """
    eta, reach, low, high = mean, 2.0, -np.inf, np.inf
    width_var = var
    for _ in range(_STEPS):
        curvature = max(call_family(code[2], reward, exposure, shape, eta), 0.0)
        force = call_family(code[1], reward, exposure, shape, eta) - (eta - mean) / var
        width_var = var / (1.0 + var * curvature)
        step = force * width_var
        if step * step <= _CLOSE * _CLOSE * width_var:
            eta += step
            break
        if force > 0:
            low = eta
        else:
            high = eta
        if not abs(step) <= reach:  # too far, or a number overflowed
            step = copysign(reach, force)
        reach *= 2.0
        eta = eta + step if low < eta + step < high else (low + high) / 2
    return eta, sqrt(width_var)


@compiled
def matched_site(
    code: FamilyCode, reward: float, exposure: float, shape: float, mean: float, var: float
) -> tuple[float, float, float]:
    """The precision a and the weighted observation b of a reward's site, and its log Z."""
    centre, width = find_mode(code, reward, exposure, shape, mean, var)
    ahead = centre - mean
    top = call_family(code[0], reward, exposure, shape, centre)
    total, first, second = 0.0, 0.0, 0.0
    told = 1.0 - width * width / var  # how much of what is known the reward tells
    if width < NARROW and told * width < SKEWED:
        for i in range(_NODES.size):
            away = width * _NODES[i]
            log_p = call_family(code[0], reward, exposure, shape, centre + away) - top
            weight = _WEIGHTS[i] * exp(log_p - away * (away + 2 * ahead) / (2 * var))
            total += weight
            first += weight * away
            second += weight * away * away
        log_z = log(total * width / sqrt(var))
    else:
        step = min(width, max(_STEP, sqrt(var) / 40))
        total = 1.0
        for side in (-step, step):
            for i in range(1, _MOST):
                away = i * side
                log_p = call_family(code[0], reward, exposure, shape, centre + away) - top
                log_p -= away * (away + 2 * ahead) / (2 * var)
                if not log_p > _LOWEST:
                    break
                weight = exp(log_p)
                total += weight
                first += weight * away
                second += weight * away * away
        log_z = log(total * step / sqrt(2 * pi * var))
    log_z += top - ahead * ahead / (2 * var)
    first /= total
    after = second / total - first * first
    precision = (1.0 - after / var) / after
    if not precision * var > NEGLIGIBLE:
        precision = 0.0
        after = var
    moved = ahead + first
    weighted = moved / after + mean * precision
    if not abs(moved) > NEGLIGIBLE * sqrt(var) and precision == 0.0:
        weighted = 0.0
    return precision, weighted, log_z


@inlined
def log_share(mean: float, var: float, precision: float, weighted: float) -> float:
    """The log of the mean of a site, exp(b eta - a eta^2 / 2), over N(eta; mean, var)."""
    spread = 1.0 + precision * var
    square = weighted * (2.0 * mean + var * weighted) - precision * mean * mean
    share: float = 0.5 * (square / spread - log(spread))
    return share
