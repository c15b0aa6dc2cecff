"""Gibbs draws of the unknown widths of arms with a part in common, in O(K) per task.

The model of `width_draws`, with another Sigma: theta_sa = mu_a + l_s + d_sa, where l_s ~ N(0, c^2)
is what the arms of a task have in common and d_sa ~ N(0, width_a^2).  All widths and c are half-t
about the common scale A.  Only cells of tasks and arms that have rewards are visited.
"""

from math import exp, sqrt

import numpy as np
from numpy.random import Generator

from hierbandits.compiler import compiled
from hierbandits.kernels.random_address import RandomAddress, generator_at
from hierbandits.kernels.width_conditionals import (
    CENTRE,
    COMMON,
    LEAST_NOISE,
    LEAST_WIDTH,
    NOISE,
    NU,
    SCALE,
    draw_hyper,
    drawn_scale,
    sliced,
)
from hierbandits.types import Mask, Matrix, Vector


@compiled
def draw_arm_widths(
    source: RandomAddress,
    counts: Matrix,
    xy: Matrix,
    yy: Vector,
    n: Vector,
    hyper_mean: Vector,
    is_own: Mask,
    has_centre: bool,
    is_noise_known: bool,
    is_first: bool,
    cov: Vector,
    hyper_vars: Vector,
    numbers: Vector,
    covs: Matrix,
    hypers: Matrix,
    others: Matrix,
    common: Vector,
) -> None:
    """`draw_widths` of arms, with the counts of each task and arm and variances, (K,).

    `common` is l_s, a part of the chain's state.  Without a part in common, numbers[COMMON] is 0.
    """
    rng = generator_at(source)
    tasks, arms = xy.shape
    mu, off = np.empty(arms), np.empty(tasks)
    for turn in range(len(covs)):
        square, total = yy.sum(), 0.0
        for a in range(arms):
            _draw_arm(
                rng,
                counts[:, a],
                xy[:, a],
                common,
                a,
                hyper_mean,
                hyper_vars,
                numbers,
                is_first,
                cov,
                mu,
                off,
            )
            scatter, seen = tasks * LEAST_WIDTH**2, 0
            for s in range(tasks):
                if counts[s, a] > 0.0:
                    theta = mu[a] + common[s] + off[s]
                    square += theta * (counts[s, a] * theta - 2 * xy[s, a])
                    scatter += off[s] ** 2
                    seen += 1
            known = rng.standard_gamma((NU + 1) / 2) / (NU / cov[a] + numbers[SCALE])
            cov[a] = (scatter / 2 + NU * known) / rng.standard_gamma((NU + seen) / 2)
            total += known
        if not is_noise_known:  # before l_s: it is drawn without d_sa, which then belongs to no l_s
            left = max(square, 0.0) + LEAST_NOISE**2
            numbers[NOISE] = left / 2 / rng.standard_gamma(max(n.sum(), 1.0) / 2)
        if numbers[COMMON] > 0.0:
            total += _draw_common(
                rng, counts, xy, hyper_mean, hyper_vars, numbers, is_first, cov, mu, common
            )
        numbers[SCALE] = drawn_scale(rng, arms + (numbers[COMMON] > 0.0), total)
        draw_hyper(rng, mu, hyper_mean, is_own, has_centre, hyper_vars, numbers)
        covs[turn], hypers[turn], others[turn] = cov, hyper_vars, numbers


@compiled
def _draw_arm(
    rng: Generator,
    counts: Vector,
    xy: Vector,
    common: Vector,
    arm: int,
    hyper_mean: Vector,
    hyper_vars: Vector,
    numbers: Vector,
    is_first: bool,
    cov: Vector,
    mu: Vector,
    off: Vector,
) -> None:
    """Draw an arm's mu, its tasks' steps theta - mu, and a factor of its width."""
    noise_var, var = numbers[NOISE], cov[arm]
    precision = 1 / hyper_vars[arm]
    told = (hyper_mean[arm] + numbers[CENTRE]) * precision
    for s in range(counts.size):
        inner = noise_var + counts[s] * var
        precision += counts[s] / inner
        told += (xy[s] - counts[s] * common[s]) / inner
    mu[arm] = told / precision + rng.standard_normal() / sqrt(precision)
    straight, bent = 0.0, 0.0
    for s in range(counts.size):
        if counts[s] > 0.0:
            shrunk = var / (noise_var + counts[s] * var)
            left = xy[s] - counts[s] * (mu[arm] + common[s])
            off[s] = shrunk * left + sqrt(shrunk * noise_var) * rng.standard_normal()
            straight += off[s] * left
            bent += off[s] ** 2 * counts[s]
    if is_first:
        return
    factor = exp(
        sliced(rng, straight / noise_var, bent / noise_var, NU, var * numbers[SCALE], (NU + 1) / 2)
    )
    cov[arm] *= factor**2
    for s in range(counts.size):
        off[s] *= factor


@compiled
def _draw_common(
    rng: Generator,
    counts: Matrix,
    xy: Matrix,
    hyper_mean: Vector,
    hyper_vars: Vector,
    numbers: Vector,
    is_first: bool,
    cov: Vector,
    mu: Vector,
    common: Vector,
) -> float:
    """Draw l_s of each task, d_sa integrated out, and their variance; returns its prior's 1 / a."""
    tasks, arms = xy.shape
    noise_var, var = numbers[NOISE], numbers[COMMON]
    straight, bent = 0.0, 0.0
    for s in range(tasks):
        precision, told = 0.0, 0.0
        for a in range(arms):
            if counts[s, a] > 0.0:
                inner = noise_var + counts[s, a] * cov[a]
                precision += counts[s, a] / inner
                told += (xy[s, a] - counts[s, a] * mu[a]) / inner
        shrunk = var / (1.0 + precision * var)
        common[s] = shrunk * told + sqrt(shrunk) * rng.standard_normal()
        straight += common[s] * told
        bent += common[s] ** 2 * precision
    factor = 1.0
    if not is_first:
        factor = exp(sliced(rng, straight, bent, NU, var * numbers[SCALE], (NU + 1) / 2))
    scatter = tasks * LEAST_WIDTH**2
    for s in range(tasks):
        common[s] *= factor
        scatter += common[s] ** 2
    known: float = rng.standard_gamma((NU + 1) / 2) / (NU / (var * factor**2) + numbers[SCALE])
    numbers[COMMON] = (scatter / 2 + NU * known) / rng.standard_gamma((NU + tasks) / 2)
    # mu + shift and l - shift say the same of all rewards.
    precision, told = tasks / numbers[COMMON], common.sum() / numbers[COMMON]
    for a in range(arms):
        precision += 1 / hyper_vars[a]
        told -= (mu[a] - hyper_mean[a] - numbers[CENTRE]) / hyper_vars[a]
    shift = told / precision + rng.standard_normal() / sqrt(precision)
    for s in range(tasks):
        common[s] -= shift
    for a in range(arms):
        mu[a] += shift
    return known
