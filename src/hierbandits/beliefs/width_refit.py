"""The widths of a population, learned from the sums of its tasks, a few draws at a time."""

from typing import Any

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.first_widths import FirstWidths
from hierbandits.beliefs.standard_units import StandardUnits
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.kernels.arm_width_draws import draw_arm_widths
from hierbandits.kernels.random_address import RandomAddress, random_table
from hierbandits.kernels.width_conditionals import CENTRE, COMMON, NOISE
from hierbandits.kernels.width_draws import draw_widths
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.stated_covs import parts_in_common
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.types import Indices, Matrix, Vector

FIRST, WARM_UP = 3, 8
"""The first draws of a chain, and all that are thrown away."""

DRAWS, FEWEST_DRAWS, ENOUGH_WORK = 96, 24, 10_000_000
"""The draws of which the mean is taken, or fewer where they would take more work than enough.

The more tasks there are, the better their widths are known, and the nearer draws are to each other.
"""

LARGEST_SUMS = 2_000_000
"""The work of a draw, so that a look takes the tasks with the most rewards if there are more."""

MANY_REWARDS = 4
"""Rewards for each coordinate from which draws begin at a guess; see `FirstWidths`."""

_WIDER = 4.0  # times the last covariances, where draws begin: they leave wide ones sooner
_LEAST_FIRST_WIDTH = 0.1  # of the tasks where draws begin, in units of the rewards
_FIRST_WIDTH = 1.0  # of the first draw's tasks, in units of the rewards
_LEAST_SHARE = 1e-12  # of an arm's own variance in the common one: less would be lost in it
_FIRST_SHARE = 0.01  # of the common variance in the arms' own where draws begin, at least
_FIRST_LOADS = 0.3  # of the tasks' width: the width of loads where draws begin, at least
_LEAST_NOISE = 1e-6  # of a stated noise, in units of the rewards: below it draws would not move


class WidthRefit:
    """Posterior draws of widths and correlations, and the hierarchy in the middle of them.

    The middle is the mean of log noise and of the matrix logarithms of the covariances.  Deciding
    under it has less regret than deciding under a draw: a draw of a width that is far too wide
    costs much, and such draws are frequent where little is known.
    """

    def __init__(
        self,
        prior: UnknownWidths,
        sums: TaskSums,
        now: GaussianHierarchy | None = None,
        draws: int | None = None,
        rng: Generator | None = None,
    ) -> None:
        self.prior = prior
        self.cost = max(1, len(sums.n)) * work_of_task(prior)
        if draws is None:
            draws = min(DRAWS, max(FEWEST_DRAWS, ENOUGH_WORK // self.cost))
        self.units = units = StandardUnits.of(sums)
        self._before = now or prior.hierarchy()
        self._sums = units.scaled(sums)
        self._mean = units.mean_in(prior.hyper_mean)
        one = np.ones(prior.dim) if prior.is_armed else np.eye(prior.dim)
        width, noise = _FIRST_WIDTH, self._before.noise_std / units.reward
        if now is None and prior.noise_std is None:
            noise = 1.0
        if now is None and sums.n.sum() >= MANY_REWARDS * prior.dim:
            known = None if prior.noise_std is None else noise
            width, noise = FirstWidths.of(self._sums, self._mean, known).middle()
        self._cov: Matrix = width**2 * one
        centre, common = 0.0, 0.0
        loads = np.zeros((prior.dim, prior.num_factors))
        if prior.is_armed:  # where all arms would be if they were equal
            centre = float((self._sums.xy.sum() - sums.xx.sum(0) @ self._mean) / sums.n.sum())
            common = 0.0 if prior.is_diagonal else width**2
        if now is not None:
            last, common, loads[:] = _parts(_WIDER * units.cov_in(now.task_cov), prior)
            self._cov = last + _LEAST_FIRST_WIDTH**2 * one  # draws hardly ever leave nothing
        self._numbers = np.array([max(noise, _LEAST_NOISE) ** 2, 1 / width**2, centre, common])
        self._shared: list[Matrix] = []  # parts that the arms of a task share, in kernels' order
        if prior.is_armed:
            zeros = np.zeros(len(sums.n)), np.zeros((len(sums.n), prior.num_factors))
            load_vars = np.maximum((loads**2).mean(0), (_FIRST_LOADS * width) ** 2)
            self._shared = [*zeros, loads, load_vars]
        self._hyper_vars = np.ones(prior.dim)
        self._covs = np.empty((WARM_UP + draws, *one.shape))
        self._loads = np.empty((WARM_UP + draws, *loads.shape))
        self._hypers = np.empty((WARM_UP + draws, prior.dim))
        self._others = np.empty((WARM_UP + draws, self._numbers.size))
        self._done = 0
        # Unless `rng` is given, the draws are a function of the data alone, in any unit and
        # whatever their rounding.
        data = [sums.n.sum(), self._sums.yy.sum(), np.abs(self._sums.xy).sum()]
        with np.errstate(over="ignore"):
            key = np.array(data).astype(np.float32).view(np.uint32)
        own = np.random.PCG64(np.random.SeedSequence(key.tolist()))
        self._rng = Generator(own) if rng is None else rng

    @property
    def is_done(self) -> bool:
        """Whether all draws are made."""
        return self._done == len(self._covs)

    def advance(self, draws: int | None = None) -> int:
        """Make so many draws more, or all; returns how many were left to make."""
        start, last = self._done, len(self._covs)
        stop = last if draws is None else min(start + draws, last)
        while self._done < stop:
            self._draw(slice(self._done, min(stop, FIRST if self._done < FIRST else last)))
        return self._done - start

    def _draw(self, rows: slice) -> None:
        """Make these draws."""
        sums, prior, constant = self._sums, self.prior, self.units.constant
        draw: Any = draw_arm_widths if prior.is_armed else draw_widths
        table = random_table(self._rng)
        draw(
            RandomAddress(table.ctypes.data),
            sums.xx,
            sums.xy,
            sums.yy,
            sums.n,
            self._mean,
            np.arange(prior.dim) == (-1 if constant is None else constant),
            prior.is_armed,
            prior.noise_std is not None,
            rows.stop <= FIRST,
            self._cov,
            self._hyper_vars,
            self._numbers,
            self._covs[rows],
            self._hypers[rows],
            self._others[rows],
            *self._shared,
            *([self._loads[rows]] if prior.is_armed else []),
        )
        self._done = rows.stop

    def hierarchy(self) -> GaussianHierarchy:
        """The hierarchy in the middle of the draws.

        Where no hierarchy can be so (numbers are too large, or none), it is as it was before.
        """
        return self._middle(slice(WARM_UP, None))

    def last(self) -> GaussianHierarchy:
        """The hierarchy of the last draw; see `hierarchy`."""
        return self._middle(slice(-1, None))

    def _middle(self, rows: slice) -> GaussianHierarchy:
        """The hierarchy in the middle of some draws."""
        units, prior = self.units, self.prior
        with np.errstate(all="ignore"):
            try:
                hyper = np.exp(np.log(self._hypers[rows]).mean(0))
                noise = units.reward * np.exp(np.log(self._others[rows, NOISE]).mean() / 2)
                cov = _log_mean(self._whole_covs(rows) if prior.num_factors else self._covs[rows])
                if prior.is_armed and not (prior.is_diagonal or prior.num_factors):
                    shared = self._others[rows, COMMON]
                    common = np.exp(np.log(shared).mean())
                    # Draws may know an arm's variance well, and which part is in common not at all.
                    whole = np.log(self._covs[rows] + shared[:, None]).mean(0)
                    scale = np.exp(np.mean(whole - np.log(cov + common)))
                    cov, common = scale * cov, scale * common
                    cov = np.diag(np.maximum(cov, _LEAST_SHARE * common)) + common
                return prior.with_widths(
                    units.cov_out(hyper if prior.is_diagonal else np.diag(hyper)),
                    units.cov_out(cov),
                    float(noise) if prior.noise_std is None else prior.noise_std,
                    float(units.reward * self._others[rows, CENTRE].mean()),
                )
            except ValueError:
                return self._before

    def _whole_covs(self, rows: slice) -> Matrix:
        """The covariances of arms that share factors, in some draws."""
        loads = self._loads[rows]
        whole: Matrix = self._covs[rows, :, None] * np.eye(self.prior.dim)
        whole += self._others[rows, COMMON, None, None] + loads @ loads.transpose(0, 2, 1)
        return whole


def work_of_task(prior: UnknownWidths) -> int:
    """The work of a task's share in a draw, in multiplications."""
    d = prior.dim
    if prior.is_armed:
        return (14 + 14 * prior.num_factors) * d
    return d**3 + 4 * d**2 + 16 * d + 16


def most_rewarded(n: Vector, prior: UnknownWidths) -> Indices:
    """The tasks that have rewards, `n` of each; those with the most, if there are very many."""
    most = max(LARGEST_SUMS // work_of_task(prior), 4 * prior.dim)
    tasks = np.flatnonzero(n > 0)
    if tasks.size > most:
        tasks = tasks[np.sort(np.argsort(-n[tasks], kind="stable")[:most])]
    return tasks


def _parts(cov: Matrix, prior: UnknownWidths) -> tuple[Matrix, float, Matrix]:
    """The state of a chain at this covariance: of arms, their variances, the common one, loads."""
    loads = np.zeros((prior.dim, prior.num_factors))
    if not prior.is_armed or prior.is_diagonal:
        return cov, 0.0, loads
    parts = parts_in_common(cov)
    if parts is None:  # nearly: draws only begin here
        common = max(float(cov[~np.eye(prior.dim, dtype=bool)].mean()), 0.0)
        values, vectors = np.linalg.eigh(cov)
        values = np.maximum(values, _LEAST_SHARE * values[-1])
        least = 1 / (vectors**2 @ (1 / values))  # what is left of an arm when all others are known
        values, vectors = np.linalg.eigh(cov - common - np.diag(least))
        most = slice(prior.dim - prior.num_factors, None)
        loads = vectors[:, most] * np.sqrt(np.maximum(values[most], 0.0))
        parts = np.maximum(np.diagonal(cov) - common - (loads**2).sum(1), least), common
    own, common = parts
    return own, max(common, _FIRST_SHARE * float(own.mean())), loads  # draws never leave zero


def _log_mean(covs: Matrix) -> Matrix:
    """The exponential of the mean logarithm of covariances."""
    if covs.ndim == 2:
        middle: Matrix = np.exp(np.log(covs).mean(0))
        return middle
    values, vectors = np.linalg.eigh(covs)
    logs = np.log(np.maximum(values, np.finfo(float).eps * values[:, -1:]))
    mean = (vectors * logs[:, None, :] @ vectors.transpose(0, 2, 1)).mean(0)
    values, vectors = np.linalg.eigh(mean)
    full: Matrix = vectors * np.exp(values) @ vectors.T
    return full
