"""Gibbs draws of the unknown widths of many arms, taken for uncorrelated, in O(K) per task.

The model of `width_draws`, with Sigma diagonal: theta_sa ~ N(mu_a, width_a^2).  Only cells of tasks
and arms that have rewards are visited.
"""

from math import exp, sqrt

import numpy as np
from numpy.random import Generator

from hierbandits.compiler import compiled
from hierbandits.kernels.width_conditionals import (
    CENTRE,
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
    rng: Generator,
    counts: Matrix,
    xy: Matrix,
    yy: Vector,
    n: Vector,
    hyper_mean: Vector,
    is_own: Mask,
    has_centre: bool,
    is_noise_known: bool,
    cov: Vector,
    hyper_vars: Vector,
    numbers: Vector,
    covs: Matrix,
    hypers: Matrix,
    others: Matrix,
) -> None:
    """`draw_widths` of arms, with the counts of each task and arm and variances, (K,)."""
    tasks, arms = xy.shape
    mu, off = np.empty(arms), np.empty(tasks)
    for turn in range(len(covs)):
        square, total = yy.sum(), 0.0
        for a in range(arms):
            _draw_arm(rng, counts[:, a], xy[:, a], a, hyper_mean, hyper_vars, numbers, cov, mu, off)
            scatter, seen = tasks * LEAST_WIDTH**2, 0
            for s in range(tasks):
                if counts[s, a] > 0.0:
                    theta = mu[a] + off[s]
                    square += theta * (counts[s, a] * theta - 2 * xy[s, a])
                    scatter += off[s] ** 2
                    seen += 1
            known = rng.standard_gamma((NU + 1) / 2) / (NU / cov[a] + numbers[SCALE])
            cov[a] = (scatter / 2 + NU * known) / rng.standard_gamma((NU + seen) / 2)
            total += known
        numbers[SCALE] = drawn_scale(rng, arms, total)
        draw_hyper(rng, mu, hyper_mean, is_own, has_centre, hyper_vars, numbers)
        if not is_noise_known:
            left = max(square, 0.0) + LEAST_NOISE**2
            numbers[NOISE] = left / 2 / rng.standard_gamma(max(n.sum(), 1.0) / 2)
        covs[turn], hypers[turn], others[turn] = cov, hyper_vars, numbers


@compiled
def _draw_arm(
    rng: Generator,
    counts: Vector,
    xy: Vector,
    arm: int,
    hyper_mean: Vector,
    hyper_vars: Vector,
    numbers: Vector,
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
        told += xy[s] / inner
    mu[arm] = told / precision + rng.standard_normal() / sqrt(precision)
    straight, bent = 0.0, 0.0
    for s in range(counts.size):
        if counts[s] > 0.0:
            shrunk = var / (noise_var + counts[s] * var)
            left = xy[s] - counts[s] * mu[arm]
            off[s] = shrunk * left + sqrt(shrunk * noise_var) * rng.standard_normal()
            straight += off[s] * left
            bent += off[s] ** 2 * counts[s]
    factor = exp(
        sliced(rng, straight / noise_var, bent / noise_var, NU, var * numbers[SCALE], (NU + 1) / 2)
    )
    cov[arm] *= factor**2
    for s in range(counts.size):
        off[s] *= factor
