"""Gibbs draws of the unknown widths of arms that share some parts, in O(K) per task.

The model of `width_draws`, with another Sigma:

    theta_sa = mu_a + l_s + w_a @ f_s + d_sa

    l_s ~ N(0, c^2)      f_s ~ N(0, I)      w_af ~ N(0, v_f)      d_sa ~ N(0, width_a^2)

where l_s is what the arms of a task have in common, and f_s are F factors, which each arm has in
its own measure w_a: F may be 0.  All widths, c and the roots of v are half-t about the common scale
A.  Only cells of tasks and arms that have rewards are visited.
"""

from math import exp, sqrt

import numpy as np
from numpy.random import Generator

from hierbandits.compiler import compiled
from hierbandits.kernels.arm_part_draws import draw_loads, draw_parts
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
    scores: Matrix,
    loads: Matrix,
    load_vars: Vector,
    all_loads: Matrix,
) -> None:
    """`draw_widths` of arms, with the counts of each task and arm and variances, (K,).

    `common` is l_s, `scores` f_s, (tasks, F), and `loads` w_a, (K, F), with their variances v,
    (F,): parts of the chain's state.  Without a part in common, numbers[COMMON] is 0, and there are
    no factors.  The first draws of a chain keep the loads as they are: f_s is not known yet.
    """
    rng = generator_at(source)
    tasks, arms = xy.shape
    mu, off, shared = np.empty(arms), np.empty(tasks), np.empty(tasks)
    for turn in range(len(covs)):
        square, total = yy.sum(), 0.0
        for a in range(arms):
            if not is_first and load_vars.size > 0:
                draw_loads(
                    rng,
                    counts[:, a],
                    xy[:, a],
                    common,
                    a,
                    hyper_mean,
                    hyper_vars,
                    numbers,
                    cov,
                    scores,
                    loads,
                    load_vars,
                )
            for s in range(tasks):
                shared[s] = common[s]
                for f in range(load_vars.size):
                    shared[s] += loads[a, f] * scores[s, f]
            _draw_arm(
                rng,
                counts[:, a],
                xy[:, a],
                shared,
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
                    theta = mu[a] + shared[s] + off[s]
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
            total += draw_parts(
                rng,
                counts,
                xy,
                hyper_mean,
                hyper_vars,
                numbers,
                is_first,
                cov,
                mu,
                common,
                scores,
                loads,
                load_vars,
            )
        parts = load_vars.size + (numbers[COMMON] > 0.0)
        numbers[SCALE] = drawn_scale(rng, arms + parts, total)
        draw_hyper(rng, mu, hyper_mean, is_own, has_centre, hyper_vars, numbers)
        covs[turn], hypers[turn], others[turn] = cov, hyper_vars, numbers
        all_loads[turn] = loads


@compiled
def _draw_arm(
    rng: Generator,
    counts: Vector,
    xy: Vector,
    shared: Vector,
    arm: int,
    hyper_mean: Vector,
    hyper_vars: Vector,
    numbers: Vector,
    is_first: bool,
    cov: Vector,
    mu: Vector,
    off: Vector,
) -> None:
    """Draw an arm's mu, its tasks' d_sa, and a factor of its width.

    `shared` is l_s + w_a @ f_s.
    """
    noise_var, var = numbers[NOISE], cov[arm]
    precision = 1 / hyper_vars[arm]
    told = (hyper_mean[arm] + numbers[CENTRE]) * precision
    for s in range(counts.size):
        inner = noise_var + counts[s] * var
        precision += counts[s] / inner
        told += (xy[s] - counts[s] * shared[s]) / inner
    mu[arm] = told / precision + rng.standard_normal() / sqrt(precision)
    straight, bent = 0.0, 0.0
    for s in range(counts.size):
        if counts[s] > 0.0:
            shrunk = var / (noise_var + counts[s] * var)
            left = xy[s] - counts[s] * (mu[arm] + shared[s])
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
