"""Gibbs draws of the parts that the arms of a task share; see `arm_width_draws` for the symbols."""

from math import exp, sqrt

import numpy as np
from numpy.random import Generator

from hierbandits.compiler import compiled
from hierbandits.kernels.small_matrices import factorise
from hierbandits.kernels.width_conditionals import (
    CENTRE,
    COMMON,
    LEAST_WIDTH,
    NOISE,
    NU,
    SCALE,
    sliced,
)
from hierbandits.types import Matrix, Vector


@compiled
def draw_loads(
    rng: Generator,
    counts: Vector,
    xy: Vector,
    common: Vector,
    arm: int,
    hyper_mean: Vector,
    hyper_vars: Vector,
    numbers: Vector,
    cov: Vector,
    scores: Matrix,
    loads: Matrix,
    load_vars: Vector,
) -> None:
    """Draw an arm's w_a, with mu_a and all d_sa integrated out."""
    size = 1 + load_vars.size  # mu_a, then w_a
    square, told, row = np.zeros((size, size)), np.zeros(size), np.ones(size)
    noise_var, var = numbers[NOISE], cov[arm]
    square[0, 0] = 1 / hyper_vars[arm]
    told[0] = (hyper_mean[arm] + numbers[CENTRE]) / hyper_vars[arm]
    for f in range(load_vars.size):
        square[1 + f, 1 + f] = 1 / load_vars[f]
    for s in range(counts.size):
        if counts[s] > 0.0:
            inner = noise_var + counts[s] * var
            left = (xy[s] - counts[s] * common[s]) / inner
            row[1:] = scores[s]
            for i in range(size):
                told[i] += row[i] * left
                for j in range(i + 1):
                    square[i, j] += row[i] * row[j] * counts[s] / inner
    draw_gaussian(rng, square, told)
    loads[arm] = told[1:]


@compiled
def draw_parts(
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
    scores: Matrix,
    loads: Matrix,
    load_vars: Vector,
) -> float:
    """Draw l_s and f_s of all tasks, d_sa integrated out, then c and v; returns the sum of 1 / a.

    Each part then moves in all ways that leave every theta where it is.
    """
    tasks, arms = xy.shape
    size = 1 + load_vars.size  # l_s / c, then f_s
    noise_var, width = numbers[NOISE], sqrt(numbers[COMMON])
    told, drawn, row = np.empty(size), np.empty(size), np.empty(size)
    seen, square = np.empty((size, size)), np.empty((size, size))
    straight, bent = np.zeros(size), np.zeros((size, size))
    row[0] = width
    for s in range(tasks):
        told[:], seen[:] = 0.0, 0.0
        for a in range(arms):
            if counts[s, a] > 0.0:
                inner = noise_var + counts[s, a] * cov[a]
                left = (xy[s, a] - counts[s, a] * mu[a]) / inner
                row[1:] = loads[a]
                for i in range(size):
                    told[i] += row[i] * left
                    for j in range(i + 1):
                        seen[i, j] += row[i] * row[j] * counts[s, a] / inner
        square[:], drawn[:] = seen, told
        for i in range(size):
            square[i, i] += 1.0
        draw_gaussian(rng, square, drawn)
        common[s], scores[s] = width * drawn[0], drawn[1:]
        for i in range(size):
            straight[i] += drawn[i] * told[i]
            for j in range(i + 1):
                bent[i, j] += drawn[i] * drawn[j] * seen[i, j]
    total = 0.0
    factor = np.ones(size)
    for i in range(size):
        var = numbers[COMMON] if i == 0 else load_vars[i - 1]
        if not is_first:
            along = straight[i]
            for j in range(size):
                if j != i:
                    along -= bent[max(i, j), min(i, j)] * factor[j]
            reach = var * numbers[SCALE]
            factor[i] = exp(sliced(rng, along, bent[i, i], NU, reach, (NU + 1) / 2))
        part = common if i == 0 else loads[:, i - 1]
        scatter = part.size * LEAST_WIDTH**2
        for k in range(part.size):
            part[k] *= factor[i]
            scatter += part[k] ** 2
        known = rng.standard_gamma((NU + 1) / 2) / (NU / (var * factor[i] ** 2) + numbers[SCALE])
        var = (scatter / 2 + NU * known) / rng.standard_gamma((NU + part.size) / 2)
        total += known
        if i == 0:
            numbers[COMMON] = var
        else:
            load_vars[i - 1] = var
    for f in range(load_vars.size):
        _balance(rng, scores[:, f], loads[:, f], load_vars[f])
        _lean(rng, common, numbers[COMMON], scores[:, f], loads[:, f], load_vars[f])
        _shift(rng, scores[:, f], 1.0, loads[:, f], hyper_mean, hyper_vars, numbers, mu)
    _shift(rng, common, numbers[COMMON], np.ones(arms), hyper_mean, hyper_vars, numbers, mu)
    return total


@compiled
def _shift(
    rng: Generator,
    part: Vector,
    var: float,
    loads: Vector,
    hyper_mean: Vector,
    hyper_vars: Vector,
    numbers: Vector,
    mu: Vector,
) -> None:
    """Move mu by a number of loads, and the part of all tasks by this number the other way."""
    precision, told = part.size / var, part.sum() / var
    for a in range(mu.size):
        precision += loads[a] ** 2 / hyper_vars[a]
        told -= loads[a] * (mu[a] - hyper_mean[a] - numbers[CENTRE]) / hyper_vars[a]
    step = told / precision + rng.standard_normal() / sqrt(precision)
    for s in range(part.size):
        part[s] -= step
    for a in range(mu.size):
        mu[a] += step * loads[a]


@compiled
def _lean(
    rng: Generator, common: Vector, common_var: float, scores: Vector, loads: Vector, var: float
) -> None:
    """Move all loads by a number, and l_s by this number of scores the other way."""
    precision, told = loads.size / var, -loads.sum() / var
    for s in range(scores.size):
        precision += scores[s] ** 2 / common_var
        told += common[s] * scores[s] / common_var
    step = told / precision + rng.standard_normal() / sqrt(precision)
    for a in range(loads.size):
        loads[a] += step
    for s in range(scores.size):
        common[s] -= step * scores[s]


@compiled
def _balance(rng: Generator, scores: Vector, loads: Vector, var: float) -> None:
    """Multiply all loads by a number and divide all scores by it, by a slice (Neal, 2003)."""
    power = loads.size - scores.size
    many, much = (scores**2).sum() / 2, (loads**2).sum() / (2 * var)
    level = -many - much - rng.standard_exponential()
    low = -rng.random()
    high = low + 1.0
    for _ in range(60):
        found = low + (high - low) * rng.random()
        square = exp(2 * found)
        if power * found - many / square - much * square >= level:
            scores /= exp(found)
            loads *= exp(found)
            return
        if found < 0.0:
            low = found
        else:
            high = found


@compiled
def draw_gaussian(rng: Generator, precision: Matrix, told: Vector) -> None:
    """Overwrite `told` by a draw of N(precision^-1 told, precision^-1); of a lower triangle."""
    size = told.size
    lower = np.empty((size, size))
    factorise(precision, lower)
    for i in range(size):
        for k in range(i):
            told[i] -= lower[i, k] * told[k]
        told[i] /= lower[i, i]
    for i in range(size - 1, -1, -1):
        told[i] += rng.standard_normal()
        for k in range(i + 1, size):
            told[i] -= lower[k, i] * told[k]
        told[i] /= lower[i, i]
