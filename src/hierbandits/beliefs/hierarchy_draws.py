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

STEPS = 8
"""Of a chain after its warm-up, where all chains begin in one place."""


def draw_hierarchies(
    rng: Generator,
    prior: UnknownWidths,
    sums: TaskSums,
    number: int,
    scalar: float = 0.0,
    fitted: GaussianHierarchy | None = None,
    together: float = 1.0,
) -> list[GaussianHierarchy]:
    """So many draws of widths, correlations and noise given sums, nearly from their posterior.

    Each begins at a width of its own, which all coordinates share and which is as probable as the
    rewards make it, and then goes its own way for as long as `WidthRefit` warms up.  With the
    probability `scalar` it stays where it began: all coordinates do share one width.  Where the
    arms of a task have much in common, what they have of their own is far from that, and chains
    would take some 20 steps to get there: then `fitted` is what fits best with a part in common,
    and with the probability `together` chains that leave where they began begin there.
    """
    tasks = sums.rows(most_rewarded(sums.n, prior))
    near = None
    if fitted is not None:
        near = prior.with_widths(fitted.hyper_cov, fitted.task_cov / _WIDER, fitted.noise_std)
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
        if near is not None and rng.random() < together:
            drawn.append(_end_of_chain(prior, tasks, near, STEPS, rng))
            continue
        drawn.append(_end_of_chain(prior, tasks, begin, 1, rng))
    return drawn


def _end_of_chain(
    prior: UnknownWidths, tasks: TaskSums, begin: GaussianHierarchy, steps: int, rng: Generator
) -> GaussianHierarchy:
    """The last draw of a chain that warms up and takes so many steps more."""
    refit = WidthRefit(prior, tasks, begin, draws=steps, rng=rng)
    refit.advance()
    return refit.last()
