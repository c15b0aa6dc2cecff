"""Hierarchies that the sums of tasks allow: draws of unknown widths, each on its own."""

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.first_widths import FirstWidths
from hierbandits.beliefs.standard_units import StandardUnits
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.beliefs.width_refit import _WIDER, WidthRefit, most_rewarded
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_widths import UnknownWidths

WIDE = 30.0
"""The width of mu where all coordinates share one width, in units of the rewards."""

STEPS = 24
"""Of each chain after its warm-up.  Where arms of a task have much in common, chains begin far from
what the arms have of their own, and take some 20 steps to get there.
"""


def draw_hierarchies(
    rng: Generator,
    prior: UnknownWidths,
    sums: TaskSums,
    number: int,
    scalar: float = 0.0,
) -> list[GaussianHierarchy]:
    """So many draws of widths, correlations and noise given sums, nearly from their posterior.

    Each begins at a width of its own, which all coordinates share and which is as probable as the
    rewards make it, and then goes its own way for STEPS.  With the probability `scalar` it stays
    where it began: all coordinates do share one width.
    """
    tasks = sums.rows(most_rewarded(sums.n, prior))
    units = StandardUnits.of(tasks)
    known = None if prior.noise_std is None else prior.noise_std / units.reward
    first = FirstWidths.closely(units.scaled(tasks), units.mean_in(prior.hyper_mean), known)
    one = np.ones(prior.dim) if prior.is_diagonal else np.eye(prior.dim)
    drawn = []
    for _ in range(number):
        width, noise = first.drawn(rng)
        shares_one = rng.random() < scalar
        var = width**2 if shares_one else width**2 / _WIDER  # where `WidthRefit` will begin
        begin = prior.with_widths(
            units.cov_out(WIDE**2 * one), units.cov_out(var * one), noise * units.reward
        )
        if shares_one:
            drawn.append(begin)
            continue
        refit = WidthRefit(prior, tasks, begin, draws=STEPS, rng=rng)
        refit.advance()
        drawn.append(refit.last())
    return drawn
