"""Moment matching: the Gaussian site that stands for one reward of any family.

Before the reward, the linear predictor is eta ~ N(m, q).  After it, it has the density

    p(y | eta) N(eta; m, q) / Z

with mean m' and variance q'.  The site exp(b eta - a eta^2 / 2) with a = 1 / q' - 1 / q and
b = m' / q' - m / q makes a Gaussian of the same moments.  So the site is an observation of eta of
precision a, and log Z is the reward's part of the log evidence.  With the slope s and the negative
curvature c of log Z by m, a = c / (1 - q c) and b = (s + m c) / (1 - q c).

Where a family's functions give no number, neither are these.
"""

from math import copysign, log, pi, sqrt

import numpy as np
from numba import carray

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.family_call import FamilyCode, call_family, call_moments, fill_family
from hierbandits.kernels.moment_table import tabled_moments
from hierbandits.kernels.plain_functions import plain_exp
from hierbandits.kernels.stack_room import stack_room

NARROW, SKEWED = 0.8, 0.1
"""Gauss-Hermite's few nodes do where eta has a smaller standard deviation than NARROW, and what

the reward tells is hardly skewed on this scale; otherwise a sum over steps of equal length.
"""

NEGLIGIBLE = 1e-9
"""A site that changes no more, in units of what is known, is left empty: sums are no better."""

_CLOSE = 0.3  # how near the mode is near enough, in standard deviations
_NEWTON, _STEPS = 30, 200  # to the mode: steps of Newton's method, and of any, at most
_STEP, _SHARE = 0.6, 0.85  # of the long sum: on the scale on which links bend, and of the width
_LOWEST = -20.0  # log of what is left out, over what is highest
_FEW, _HALF = 8, 12  # numbers at once, and half of those of the sum if it is short
_MOST = 50  # how often a side of the sum is made longer
_LARGE = 1e11  # log densities of this size have lost the digits that a sum over them needs

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(_FEW)
_WEIGHTS = _WEIGHTS * np.exp(_NODES**2 / 2) / sqrt(2 * pi)  # of the integrand without its Gaussian


@inlined
def find_mode(
    code: FamilyCode, reward: float, exposure: float, shape: float, mean: float, var: float
) -> tuple[float, float]:
    """A point near the mode of p(y | eta) N(eta; mean, var), and the width of a Gaussian there.

    Newton's steps, with the mode between two bounds once they are known: log densities are concave.
    They are short where a rate is far too large, so after some of them the bounds alone count.
    Neither is a number if the family gives none on the way.
    """
    eta, reach, low, high = mean, 2.0, -np.inf, np.inf
    width_var = var
    for number in range(_STEPS):
        curvature = call_family(code[2], reward, exposure, shape, eta)
        slope = call_family(code[1], reward, exposure, shape, eta)
        if curvature != curvature or slope != slope:
            return np.nan, np.nan
        curvature = max(curvature, 0.0)
        force = slope - (eta - mean) / var
        width_var = var / (1.0 + var * curvature)
        step = force * width_var
        if step * step <= _CLOSE * _CLOSE * width_var and width_var > 0.0:
            eta += step
            break
        if force > 0:
            low = eta
        else:
            high = eta
        if not abs(step) <= reach:  # too far, or a number overflowed
            step = copysign(reach, force)
        if number >= _NEWTON or width_var == 0.0:
            step = copysign(reach, force) if high - low == np.inf else np.inf
        reach *= 2.0
        eta = eta + step if low < eta + step < high else (low + high) / 2
    return eta, sqrt(width_var)


Moments = tuple[float, float, float, float]
"""log Z, its slope s by m, its curvature c with the sign changed, and 1 - q c, which is q' / q."""


@compiled
def summed_moments(
    code: FamilyCode,
    reward: float,
    exposure: float,
    shape: float,
    mean: float,
    var: float,
) -> Moments:
    """Those of any reward of any family, by a sum about the mode."""
    centre, width = find_mode(code, reward, exposure, shape, mean, var)
    ahead, half = centre - mean, 0.5 / var
    work = carray(stack_room(), (2, 2 * _HALF), np.float64)
    eta, out = work[0], work[1]
    total, first, second = 0.0, 0.0, 0.0
    told = 1.0 - width * width / var  # how much of what is known the reward tells
    if width < NARROW and told * width < SKEWED:
        for i in range(_FEW):
            eta[i] = centre + width * _NODES[i]
        fill_family(code[0], reward, exposure, shape, eta, out, _FEW)
        top = out[_FEW // 2]
        if abs(top) > _LARGE:  # so sharp that it is Gaussian
            eta[0] = centre
            fill_family(code[0], reward, exposure, shape, eta, out, 1)
            left = width * width / var
            log_z = out[0] - ahead * ahead * half + 0.5 * log(left)
            return log_z, ahead / var, (1.0 - left) / var, left
        for i in range(_FEW):
            away = width * _NODES[i]
            weight = _WEIGHTS[i] * plain_exp(out[i] - top - away * (away + 2.0 * ahead) * half)
            total += weight
            first += weight * away
            second += weight * away * away
        log_z = log(total * width / sqrt(var))
    else:
        step = min(_SHARE * width, max(_STEP, sqrt(var) / 40.0))
        start = (0.5 - _HALF) * step
        for i in range(2 * _HALF):
            eta[i] = centre + start + i * step
        fill_family(code[0], reward, exposure, shape, eta, out, 2 * _HALF)
        top = out[_HALF]
        for i in range(2 * _HALF):
            away = start + i * step
            out[i] = out[i] - top - away * (away + 2.0 * ahead) * half
            weight = plain_exp(out[i])
            total += weight
            first += weight * away
            second += weight * away * away
        low, high = out[0], out[2 * _HALF - 1]
        for side in (-step, step):
            lowest = low if side < 0.0 else high
            start = (_HALF + 0.5) * side
            for _ in range(_MOST):
                if not lowest > _LOWEST:
                    break
                for i in range(_FEW):
                    eta[i] = centre + start + i * side
                fill_family(code[0], reward, exposure, shape, eta, out, _FEW)
                for i in range(_FEW):
                    away = start + i * side
                    out[i] = out[i] - top - away * (away + 2.0 * ahead) * half
                    weight = plain_exp(out[i])
                    total += weight
                    first += weight * away
                    second += weight * away * away
                lowest = out[_FEW - 1]
                start += _FEW * side
        log_z = log(total * step / sqrt(2.0 * pi * var))
    log_z += top - ahead * ahead / (2 * var)
    first /= total
    left = (second / total - first * first) / var
    return log_z, (ahead + first) / var, (1.0 - left) / var, left


@inlined
def matched_moments(
    code: FamilyCode,
    reward: float,
    exposure: float,
    shape: float,
    mean: float,
    var: float,
) -> Moments:
    """Those of a reward, looked up, by the family's quick way, or summed.

    What changes next to nothing is zero.
    """
    is_done, log_z, slope, curvature = False, 0.0, 0.0, 0.0
    if code[4] != 0 and exposure == 1.0:
        is_done, log_z, slope, curvature = tabled_moments(code[4], reward, mean, var)
    if not is_done and code[3] != 0:
        log_z, slope, curvature, is_done = call_moments(code[3], reward, exposure, shape, mean, var)
    left = 1.0 - var * curvature
    if not is_done:
        log_z, slope, curvature, left = summed_moments(code, reward, exposure, shape, mean, var)
    if curvature * var <= NEGLIGIBLE:  # and not where it is no number
        curvature, left = 0.0, 1.0
        if abs(slope) * sqrt(var) <= NEGLIGIBLE:
            slope = 0.0
    return log_z, slope, curvature, left


@inlined
def matched_site(
    code: FamilyCode,
    reward: float,
    exposure: float,
    shape: float,
    mean: float,
    var: float,
) -> tuple[float, float, float]:
    """The precision a and the weighted observation b of a reward's site, and its log Z."""
    log_z, slope, curvature, left = matched_moments(code, reward, exposure, shape, mean, var)
    return curvature / left, (slope + mean * curvature) / left, log_z


@inlined
def log_share(mean: float, var: float, precision: float, weighted: float) -> float:
    """The log of the mean of a site, exp(b eta - a eta^2 / 2), over N(eta; mean, var)."""
    spread = 1.0 + precision * var
    square = weighted * (2.0 * mean + var * weighted) - precision * mean * mean
    share: float = 0.5 * (square / spread - log(spread))
    return share
