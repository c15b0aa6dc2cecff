"""Do tasks fall into two groups?"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.learning.check import LEAST_ODDS, Check
from hierbandits.learning.own_fits import OwnFits
from hierbandits.learning.sentence import Claim, in_odds, listed
from hierbandits.types import Indices, Matrix, Name, Vector

ASKS = "Do tasks fall into two groups?"
LEAST_TASKS, MOST_TASKS = 15, 2000
LEAST_SHARE = 0.1  # of the tasks, in the smaller group: fewer are outliers
APART = 2.0  # standard deviations of a group: nearer ones have one peak
_STEPS, _ENOUGH = 100, 1e-3  # of log likelihood in a step


@dataclass(frozen=True, slots=True)
class Groups:
    """Estimates of theta_s ~ N(centre, std^2), with one of two centres."""

    log_odds: float  # of two groups over one, by the Bayesian information criterion
    low: float
    high: float
    share: float  # of the tasks that are in the higher group
    std: float  # of a group's estimates, their errors included

    @property
    def are_apart(self) -> bool:
        """Whether there are two peaks, and more than a few outliers in each."""
        enough = LEAST_SHARE <= self.share <= 1 - LEAST_SHARE
        return enough and self.high - self.low > APART * self.std


def check_peaks(
    sums: TaskSums,
    population: Indices,
    noise_var: Vector,
    coordinates: tuple[Name, ...],
    seed: int,
) -> Check:
    """Fit one and two groups to the tasks' own estimates, an arm or a feature at a time.

    Estimates are taken about the mean of their population.  `noise_var` has a number for each
    coordinate, (d,).
    """
    fits, best, place, tried = OwnFits.of(sums), None, 0, 0
    rng, dim = np.random.default_rng(seed), len(coordinates)
    for j in range(dim):
        inverse = fits.inverse[:, j] if sums.is_armed else fits.inverse[:, j, j]
        known = inverse > 0 if sums.is_armed else fits.rank == dim
        tasks = np.flatnonzero(known)
        if tasks.size < LEAST_TASKS:
            continue
        tried += 1
        tasks = rng.permutation(tasks)[:MOST_TASKS]
        values = fits.theta[tasks, j]
        weight, own = np.bincount(population[tasks]), population[tasks]
        values = values - (np.bincount(own, values) / np.maximum(weight, 1))[own]
        groups = two_groups(values, noise_var[j] * inverse[tasks])
        if best is None or groups.log_odds > best.log_odds:
            best, place = groups, j
    if best is None:
        words = f"Fewer than {LEAST_TASKS} tasks have data enough to look for groups."
        return Check(asks=ASKS, words=words)
    log_odds, name = best.log_odds - float(np.log(tried)), coordinates[place]
    trouble = log_odds >= np.log(LEAST_ODDS) and best.are_apart
    words = (
        f"Tasks fall into two groups for {listed([name])}: {100 * best.share:.0f} % of them are "
        f"about {best.high - best.low:.2g} above the others (odds {in_odds(log_odds)}). The model "
        "takes them for one group; a column that tells them apart would be a population."
        if trouble
        else "Tasks do not fall into two groups as far as the log tells."
    )
    return Check(
        asks=ASKS, words=words, claim=Claim.TWO_GROUPS if trouble else None,
        effect=best.high - best.low, log_odds=log_odds, about=(name,) if trouble else (),
    )  # fmt: skip


def two_groups(values: Vector, error_var: Vector) -> Groups:
    """Two groups of one width against one group, by EM from several splits.

    `values` are estimates of the tasks' parameters, with these variances.
    """
    one = _fitted(values, error_var, np.ones((1, 1, values.size)))
    ranks = (values.argsort().argsort() + 0.5) / values.size
    upper = np.array([ranks > cut for cut in (0.15, 0.35, 0.5, 0.65, 0.85)], float)
    two = _fitted(values, error_var, np.stack([1 - upper, upper], axis=1))
    best = int(two.log.argmax())
    centres, high = two.centre[best], int(two.centre[best].argmax())
    return Groups(
        log_odds=float(two.log[best] - one.log[0]) - float(np.log(values.size)),
        low=float(centres.min()),
        high=float(centres.max()),
        share=float(two.share[best, high]),
        std=float(np.sqrt(two.var[best] + error_var.mean())),
    )


class _Mixture(NamedTuple):
    """Fits from several starts."""

    log: Vector  # likelihood, (starts,)
    centre: Matrix  # (starts, groups)
    share: Matrix  # of the tasks, (starts, groups)
    var: Vector  # of a group, (starts,)


def _fitted(values: Vector, error_var: Vector, weight: Matrix) -> _Mixture:
    """Expectation and maximisation from each start's weights, (starts, groups, tasks)."""
    groups, whole_var = weight.shape[1], float(values.var())
    least = LEAST_SHARE if groups == 2 else 0.0
    start = max(whole_var - float(error_var.mean()), 0.01 * whole_var, 1e-300)
    var, log = np.full(len(weight), start), np.full(len(weight), -np.inf)
    for _ in range(_STEPS):
        total = (var[:, None] + error_var)[:, None]  # (starts, 1, tasks)
        share = np.clip(weight.mean(-1), least, 1 - least if groups == 2 else 1.0)
        near = weight / total
        centre = (near * values).sum(-1) / np.maximum(near.sum(-1), 1e-300)
        apart = values - centre[..., None]
        logs = np.log(share)[..., None] - 0.5 * (np.log(2 * np.pi * total) + apart**2 / total)
        most = logs.max(1, keepdims=True)
        whole = np.log(np.exp(logs - most).sum(1, keepdims=True)) + most
        weight = np.exp(logs - whole)
        kept = var[:, None, None] / total
        inner = (apart * kept) ** 2 + error_var * kept  # theta about its centre
        var = np.maximum((weight * inner).sum((1, 2)) / values.size, 1e-300)
        before, log = log, whole.sum((1, 2))
        if (log - before < _ENOUGH).all():
            break
    return _Mixture(log, centre, weight.mean(-1), var)
