"""A look at the widths of linear predictors: which of a few the rewards support."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.special import logsumexp

from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.beliefs.site_rows import SiteRows
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.reward_family import RewardFamily
from hierbandits.models.unknown_family_widths import (
    FIRST_HYPER_STD,
    FIRST_TASK_STD,
    UnknownFamilyWidths,
)
from hierbandits.types import Indices, Matrix, Vector

TASK_STDS = np.geomspace(0.03, 3.0, 8)
HYPER_STDS = np.geomspace(0.1, 3.0, 5)
SHARES = (0.0, 0.5, 0.9)
"""Widths that are compared, and shares of a task's variance that all its arms have in common."""

USUAL_STD, SPREAD = 0.5, 1.5
"""Beforehand widths are log-normal about this one, by so much: of log odds and log rates."""

MOST_ROWS = 4000
"""Rows of a look: where there are more, those of the tasks with the most rewards."""

Widths = tuple[float, float, float]
"""t, q and r; see `FamilyWidthLook`."""

FIRST_WIDTHS: Widths = FIRST_TASK_STD, FIRST_HYPER_STD, 0.5
"""What the first look takes for the last one's."""

_TOLERANCE = 1e-2  # evidence is flat where sites match


class FamilyWidthLook:
    """The posterior of one width for all tasks, one of mu, and a share in common, on a grid.

        mu_i ~ N(c, q^2),  theta_s - mu ~ N(0, t^2 ((1 - r) I + r 1 1'))

    with c the predictor of the mean reward if armed, and otherwise 0; features count at their root
    mean square, and r is 0 for them.  Widths are weighed by the evidence of expectation
    propagation: first q given the last t and r, then t and r.
    """

    def __init__(
        self,
        prior: UnknownFamilyWidths,
        sites: FamilySites,
        before: Widths,
        totals: Sequence[Vector] = (),
    ) -> None:
        """Look at rewards of one population; `before`: t, q and r of the last look.

        `totals` are all its rewards and exposures, or sums of them, if `sites` has only some.
        """
        num = np.bincount(sites.tasks, sites.exposure, sites.num_tasks)
        order = np.argsort(-num, kind="stable")
        size = np.cumsum(np.bincount(sites.tasks, minlength=sites.num_tasks)[order])
        chosen = np.sort(order[: max(1, int((size <= MOST_ROWS).sum()))])
        self._prior, self._unit = prior, units_of(sites)
        self._mean = prior.hyper_mean.copy()
        if prior.is_armed:
            rates = totals or (sites.rewards, sites.exposure)
            self._mean += link_of_mean(prior.rewards, *rates) - self._mean.mean()
        self._sites = sites.rows(chosen).scaled(self._unit)
        self._one = np.zeros(chosen.size, np.intp)
        self.found = self._found(*before)

    @classmethod
    def of_rows(
        cls, prior: UnknownFamilyWidths, rows: SiteRows, population: Indices, before: Widths
    ) -> "FamilyWidthLook":
        """Look at rows of one population, their nodes as in `population`."""
        nodes, place = np.unique(rows.nodes[population], return_inverse=True)
        sites = FamilySites(
            prior.rewards, place, rows.features[population], rows.rewards[population],
            rows.exposure[population], num_tasks=nodes.size, dim=prior.dim,
        )  # fmt: skip
        return cls(prior, sites, before)

    def _found(self, t: float, q: float, r: float) -> Widths:
        logs = np.array([self._log(t, each, r) + _log_prior(each) for each in HYPER_STDS])
        q = float(np.exp(np.exp(logs - logsumexp(logs)) @ np.log(HYPER_STDS)))
        shares = SHARES if self._prior.is_armed and not self._prior.is_diagonal else SHARES[:1]
        grid = list(product(TASK_STDS, shares))
        logs = np.array([self._log(each, q, share) + _log_prior(each) for each, share in grid])
        weight = np.exp(logs - logsumexp(logs))
        stds, some = np.array(grid).T
        return float(np.exp(weight @ np.log(stds))), q, float(weight @ some)

    def _log(self, t: float, q: float, r: float) -> float:
        mean = self._mean / self._unit
        return self._sites.log_evidence(mean, self._covs(t, q, r), self._one, _TOLERANCE)

    def _covs(self, t: float, q: float, r: float) -> list[Matrix]:
        one = np.ones(self._prior.dim) if self._prior.is_diagonal else np.eye(self._prior.dim)
        return [q**2 * one, t**2 * ((1 - r) * one + r)]

    def hierarchy(self) -> GaussianHierarchy:
        """The hierarchy in the middle."""
        scale = self._unit if self._prior.is_diagonal else np.outer(self._unit, self._unit)
        hyper, task = (scale * cov for cov in self._covs(*self.found))
        return GaussianHierarchy.of_levels(
            hyper_mean=self._mean, covs=[hyper, task], noise_std=1.0, armed=self._prior.is_armed
        )


def units_of(sites: FamilySites) -> Vector:
    """What one is in the units of a look, (d,): of features their root mean square is one."""
    if sites.is_armed:
        return np.ones(sites.dim)
    squares = (sites.features**2).mean(0)
    return 1 / np.sqrt(np.where(squares > 0, squares, 1.0))


def widths_in(hierarchy: GaussianHierarchy, unit: Vector) -> Widths:
    """t, q and r of the look whose hierarchy this is, in these units."""
    hyper, task = (
        np.sqrt(cov if hierarchy.is_diagonal else np.diagonal(cov)) for cov in hierarchy.covs
    )
    t, q = (float(np.exp(np.log(stds / unit).mean())) for stds in (task, hyper))
    if hierarchy.is_diagonal or hierarchy.dim == 1:
        return t, q, 0.0
    shares = (hierarchy.task_cov / np.outer(task, task))[~np.eye(hierarchy.dim, dtype=bool)]
    return t, q, float(shares.mean())


def link_of_mean(family: RewardFamily, rewards: Vector, exposure: Vector) -> float:
    """The linear predictor at which the mean reward is that of all rewards.

    Half a reward is added and half a missed one, so that there is one at any mean.
    """
    rate = (rewards.sum() + 0.5) / (exposure.sum() + 1.0)
    low, high = -30.0, 30.0
    for _ in range(100):
        middle = (low + high) / 2
        too_low = float(family.mean(np.array([middle]))[0]) < rate
        low, high = (middle, high) if too_low else (low, middle)
    return low


def _log_prior(std: float) -> float:
    return float(-0.5 * (np.log(std / USUAL_STD) / SPREAD) ** 2)
