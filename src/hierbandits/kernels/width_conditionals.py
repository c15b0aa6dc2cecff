"""Draws that the widths of arms and those of features have in common; see `width_draws`."""

from math import exp, log, sqrt

from numpy.random import Generator

from hierbandits.compiler import compiled
from hierbandits.types import Mask, Vector

NU = 2.0  # degrees of freedom of the half-t
LEAST_SCALE, LARGEST_SCALE = 1e-3, 10.0  # of A
LEAST_WIDTH = 1e-7
LEAST_NOISE = 1e-3  # where the density of log noise begins to fall
NOISE, SCALE, CENTRE, COMMON = range(4)
"""Of `numbers`: the noise variance, 1 / A^2, m, and the variance of what arms have in common."""


@compiled
def draw_hyper(
    rng: Generator,
    mu: Vector,
    hyper_mean: Vector,
    is_own: Mask,
    has_centre: bool,
    hyper_vars: Vector,
    numbers: Vector,
) -> None:
    """Draw the variances of mu, IG(1/2, 1/2) before any reward, and its centre m."""
    square, shared, total = 0.0, 0, 0.0
    for k in range(mu.size):
        apart = mu[k] - hyper_mean[k] - numbers[CENTRE]
        total += mu[k] - hyper_mean[k]
        if is_own[k]:
            hyper_vars[k] = (apart**2 + 1.0) / 2 / rng.standard_gamma(1.0)
        else:
            square += apart**2
            shared += 1
    var = (square + 1.0) / 2 / rng.standard_gamma((shared + 1) / 2)
    for k in range(mu.size):
        if not is_own[k]:
            hyper_vars[k] = var
    if has_centre:
        numbers[CENTRE] = total / mu.size + sqrt(var / mu.size) * rng.standard_normal()


@compiled
def log_density(
    log_factor: float, straight: float, bent: float, apart: float, reach: float, power: float
) -> float:
    """Of the log of a factor f: the rewards' straight f - bent f^2 / 2, and the widths' prior."""
    factor = exp(log_factor)
    told = (straight - bent * factor / 2) * factor
    return told + log_factor - power * log(apart + reach * factor**2)


@compiled
def sliced(
    rng: Generator, straight: float, bent: float, apart: float, reach: float, power: float
) -> float:
    """A slice-sampling step from a log factor of 0 (Neal, 2003)."""
    level = log_density(0.0, straight, bent, apart, reach, power) - rng.standard_exponential()
    low = -rng.random()
    high = low + 1.0
    for _ in range(8):
        if log_density(low, straight, bent, apart, reach, power) < level:
            break
        low -= 1.0
    for _ in range(8):
        if log_density(high, straight, bent, apart, reach, power) < level:
            break
        high += 1.0
    for _ in range(60):
        found = low + (high - low) * rng.random()
        if log_density(found, straight, bent, apart, reach, power) >= level:
            return found
        if found < 0.0:
            low = found
        else:
            high = found
    return 0.0


@compiled
def drawn_scale(rng: Generator, dim: int, total: float) -> float:
    """A draw of 1 / A^2 where `total` is the sum of all 1 / a, cut off at the bounds of A.

    It is Gamma(d / 2, total).  Where nearly all of that is beyond the upper bound, powers of
    uniform numbers are below it, and rejections make them exact.
    """
    least, most = 1 / LARGEST_SCALE**2, 1 / LEAST_SCALE**2
    beyond = total * most
    is_cut = beyond + sqrt(beyond) < dim / 2
    scale = most
    for _ in range(20):
        if is_cut:
            part = rng.random() ** (1 / (dim / 2 - beyond))
            if rng.random() >= part**beyond * exp(beyond * (1.0 - part)):
                continue
            scale = most * part
        else:
            scale = rng.standard_gamma(dim / 2) / total
        if least <= scale <= most:
            return scale
    return min(max(scale, least), most)
