"""Gibbs draws of a population's unknown widths and correlations, from the sums of its tasks.

All numbers are in units in which rewards and features have size one.  The model is

    y = x @ theta_s + noise      theta_s ~ N(mu, Sigma)      mu ~ N(mean + m, diag(hyper_vars))

    Sigma | a ~ IW(NU + d - 1, 2 NU diag(1 / a))    1 / a_k ~ Gamma(1/2, 1 / A^2)    log A: uniform

    hyper_vars ~ IG(1/2, 1/2)    log noise: uniform    m: uniform with a centre, zero without

so that every width of Sigma is half-t about the common scale A, and every correlation is uniform
(Huang and Wand, 2013).  Widths move with theta fixed and also with (theta - mu) / width fixed, so
that both wide and narrow ones mix well (Yu and Meng, 2011).
"""

from math import exp

import numpy as np
from numpy.random import Generator

from hierbandits.compiler import compiled
from hierbandits.kernels.inverse_wishart import draw_inverse_wishart
from hierbandits.kernels.random_address import RandomAddress, generator_at
from hierbandits.kernels.small_matrices import factorise, factorise_above_one, invert_lower
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
def draw_widths(
    source: RandomAddress,
    xx: Matrix,
    xy: Matrix,
    yy: Vector,
    n: Vector,
    hyper_mean: Vector,
    is_own: Mask,
    has_centre: bool,
    is_noise_known: bool,
    is_first: bool,
    cov: Matrix,
    hyper_vars: Vector,
    numbers: Vector,
    covs: Matrix,
    hypers: Matrix,
    others: Matrix,
) -> None:
    """Make a draw for each row of `covs`, `hypers` and `others`, from the draw before.

    `cov`, `hyper_vars` and `numbers` are the state of the chain; see NOISE.  A coordinate that
    `is_own` has a hyper-variance to itself.  The first draws of a chain keep theta fixed as widths
    move: from widths that are far too wide they would else end far too narrow, and stay there.
    """
    rng = generator_at(source)
    tasks, dim = xy.shape
    lower, inverse, inner = np.zeros((3, dim, dim))
    half = np.zeros((tasks, dim, dim))  # a root of (I + L' X'X L / noise_var)^-1, lower
    step, off = np.empty((tasks, dim)), np.empty((tasks, dim))
    mu = np.empty(dim)
    for turn in range(len(covs)):
        factorise(cov, lower)
        _draw_mean(
            rng, xx, xy, hyper_mean, hyper_vars, numbers, lower, inner, inverse, half, step, mu
        )
        _draw_steps(rng, lower, half, step, mu, off)
        draw_hyper(rng, mu, hyper_mean, is_own, has_centre, hyper_vars, numbers)
        if not is_first:
            _stretch(rng, xx, xy, numbers, lower, inverse, mu, off, cov)
        if not is_noise_known:
            numbers[NOISE] = _drawn_noise(rng, xx, xy, yy, n, mu, off)
        _draw_cov(rng, off, numbers, lower, inverse, inner, cov)
        covs[turn], hypers[turn], others[turn] = cov, hyper_vars, numbers


@compiled
def _draw_mean(
    rng: Generator,
    xx: Matrix,
    xy: Matrix,
    hyper_mean: Vector,
    hyper_vars: Vector,
    numbers: Vector,
    lower: Matrix,
    inner: Matrix,
    inverse: Matrix,
    half: Matrix,
    step: Matrix,
    mu: Vector,
) -> None:
    """Draw mu, all theta integrated out; and fill what draws of theta given mu need."""
    tasks, dim = xy.shape
    noise_var = numbers[NOISE]
    seen, told = np.zeros((dim, dim)), np.zeros(dim)  # of L^-1 mu
    through, above = np.empty((dim, dim)), np.empty(dim)
    for s in range(tasks):
        for i in range(dim):
            for j in range(dim):
                total = 0.0
                for k in range(j, dim):
                    total += xx[s, i, k] * lower[k, j]
                through[i, j] = total / noise_var
        for i in range(dim):
            for j in range(i + 1):
                total = 0.0
                for k in range(i, dim):
                    total += lower[k, i] * through[k, j]
                inner[i, j] = total
        root = half[s]
        factorise_above_one(inner, through, above)
        invert_lower(through, root)
        for i in range(dim):
            total = 0.0
            for k in range(i, dim):
                total += lower[k, i] * xy[s, k]
            mu[i] = total / noise_var
        for i in range(dim):
            total = 0.0
            for k in range(i + 1):
                total += root[i, k] * mu[k]
            told[i] = total
        for i in range(dim):
            total = 0.0
            for k in range(i, dim):
                total += root[k, i] * told[k]
            step[s, i] = total
        for i in range(dim):
            for j in range(i):
                for k in range(i, dim):
                    seen[i, j] -= root[k, i] * root[k, j]
            own = above[i] / (1.0 + above[i])  # 1 - root[i, i]^2, to all digits
            for k in range(i + 1, dim):
                own -= root[k, i] ** 2
            seen[i, i] += max(own, 0.0)
    for i in range(dim):
        told[i] = step[:, i].sum()
        for k in range(i, dim):
            told[i] += lower[k, i] * (hyper_mean[k] + numbers[CENTRE]) / hyper_vars[k]
        for j in range(i + 1):
            for k in range(i, dim):
                seen[i, j] += lower[k, i] * lower[k, j] / hyper_vars[k]
    factorise(seen, through)
    invert_lower(through, inverse)
    for i in range(dim):
        total = rng.standard_normal()
        for k in range(i + 1):
            total += inverse[i, k] * told[k]
        mu[i] = total
    for i in range(dim):
        total = 0.0
        for k in range(i, dim):
            total += inverse[k, i] * mu[k]
        told[i] = total
    for i in range(dim):
        total = 0.0
        for k in range(i + 1):
            total += lower[i, k] * told[k]
        mu[i] = total


@compiled
def _draw_steps(
    rng: Generator, lower: Matrix, half: Matrix, step: Matrix, mu: Vector, off: Matrix
) -> None:
    """Draw theta - mu of every task, given mu."""
    tasks, dim = step.shape
    white, drawn, moved = np.empty(dim), np.empty(dim), np.empty(dim)
    for i in range(dim):  # L^-1 mu
        total = mu[i]
        for k in range(i):
            total -= lower[i, k] * white[k]
        white[i] = total / lower[i, i]
    for s in range(tasks):
        root = half[s]
        for i in range(dim):
            total = rng.standard_normal()
            for k in range(i + 1):
                total += root[i, k] * white[k]
            drawn[i] = total
        for i in range(dim):
            total = step[s, i] - white[i]
            for k in range(i, dim):
                total += root[k, i] * drawn[k]
            moved[i] = total
        for i in range(dim):
            total = 0.0
            for k in range(i + 1):
                total += lower[i, k] * moved[k]
            off[s, i] = total


@compiled
def _stretch(
    rng: Generator,
    xx: Matrix,
    xy: Matrix,
    numbers: Vector,
    lower: Matrix,
    inverse: Matrix,
    mu: Vector,
    off: Matrix,
    cov: Matrix,
) -> None:
    """Multiply each width and all steps of its coordinate by a number, drawn by slices."""
    tasks, dim = xy.shape
    square, product = np.zeros((dim, dim)), np.zeros(dim)
    for s in range(tasks):
        for i in range(dim):
            left = xy[s, i]
            for k in range(dim):
                left -= xx[s, i, k] * mu[k]
                square[i, k] += off[s, i] * off[s, k] * xx[s, i, k]
            product[i] += off[s, i] * left
    invert_lower(lower, inverse)
    factor = np.ones(dim)
    for j in range(dim):
        apart = 0.0  # NU times the diagonal of the correlations' inverse
        for i in range(j, dim):
            apart += NU * inverse[i, j] ** 2 * cov[j, j]
        straight = product[j]
        for k in range(dim):
            if k != j:
                straight -= square[j, k] * factor[k]
        straight, bent = straight / numbers[NOISE], square[j, j] / numbers[NOISE]
        reach = cov[j, j] * numbers[SCALE]
        factor[j] = exp(sliced(rng, straight, bent, apart, reach, (NU + dim) / 2))
    for i in range(dim):
        for k in range(dim):
            cov[i, k] *= factor[i] * factor[k]
        for s in range(tasks):
            off[s, i] *= factor[i]


@compiled
def _drawn_noise(
    rng: Generator, xx: Matrix, xy: Matrix, yy: Vector, n: Vector, mu: Vector, off: Matrix
) -> float:
    """A draw of the noise variance given all theta."""
    tasks, dim = xy.shape
    square, count = LEAST_NOISE**2, 0.0
    for s in range(tasks):
        left = yy[s]
        for i in range(dim):
            fitted = 0.0
            for k in range(dim):
                fitted += xx[s, i, k] * (mu[k] + off[s, k])
            left += (mu[i] + off[s, i]) * (fitted - 2 * xy[s, i])
        square += max(left, 0.0)
        count += n[s]
    return square / 2 / rng.standard_gamma(max(count, 1.0) / 2)


@compiled
def _draw_cov(
    rng: Generator,
    off: Matrix,
    numbers: Vector,
    lower: Matrix,
    inverse: Matrix,
    inner: Matrix,
    cov: Matrix,
) -> None:
    """Draw a | Sigma, then Sigma | a, theta, then A | a."""
    tasks, dim = off.shape
    factorise(cov, lower)
    invert_lower(lower, inverse)
    scatter, total = np.zeros((dim, dim)), 0.0
    for k in range(dim):
        precision = 0.0
        for i in range(k, dim):
            precision += inverse[i, k] ** 2
        known = rng.standard_gamma((NU + dim) / 2) / (NU * precision + numbers[SCALE])  # 1 / a_k
        scatter[k, k] = 2 * NU * known + tasks * LEAST_WIDTH**2
        total += known
    for s in range(tasks):
        for i in range(dim):
            for j in range(i + 1):
                scatter[i, j] += off[s, i] * off[s, j]
    draw_inverse_wishart(rng, scatter, NU + dim - 1 + tasks, lower, inverse, inner, cov)
    numbers[SCALE] = drawn_scale(rng, dim, total)
