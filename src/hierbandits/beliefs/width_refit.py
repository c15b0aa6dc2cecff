"""The widths of a population, learned from the sums of its tasks, a few draws at a time."""

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.first_widths import FirstWidths
from hierbandits.beliefs.standard_units import StandardUnits
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.kernels.arm_width_draws import draw_arm_widths
from hierbandits.kernels.width_draws import CENTRE, NOISE, draw_widths
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.types import Matrix

WARM_UP, DRAWS = 8, 24
"""Draws that are thrown away, and draws of which the mean is taken."""

LARGEST_SUMS = 1_000_000
"""Tasks times d^3 of the tasks that are looked at: those with the most rewards."""

MANY_REWARDS = 4
"""Rewards for each coordinate from which draws begin at a guess; see `FirstWidths`."""

_FIRST_WIDTH = 0.1  # of the first draw's tasks, in units of the rewards
_LEAST_NOISE = 1e-8  # of a stated noise, in units of the rewards: below it draws would not move


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
        draws: int = DRAWS,
        rng: Generator | None = None,
    ) -> None:
        self.prior = prior
        self.cost = max(1, len(sums.n)) * (prior.dim if prior.is_diagonal else prior.dim**3)
        self.units = units = StandardUnits.of(sums)
        self._sums = units.scaled(sums)
        width, noise = _FIRST_WIDTH, 1.0
        if prior.noise_std is not None:
            noise = prior.noise_std / units.reward
        if now is None and sums.n.sum() >= MANY_REWARDS * prior.dim:
            known = None if prior.noise_std is None else noise
            first = FirstWidths.of(self._sums, units.mean_in(prior.hyper_mean), known)
            width, noise = first.middle()
        if sums.is_armed and not prior.is_diagonal:
            self._sums = self._sums.with_unit_vectors()
        one = np.ones(prior.dim) if prior.is_diagonal else np.eye(prior.dim)
        self._cov: Matrix = width**2 * one
        if now is not None:
            self._cov, noise = units.cov_in(now.task_cov), now.noise_std / units.reward
        self._numbers = np.array([max(noise, _LEAST_NOISE) ** 2, 1 / width**2, 0.0])
        self._hyper_vars = np.ones(prior.dim)
        self._covs = np.empty((WARM_UP + draws, *one.shape))
        self._hypers = np.empty((WARM_UP + draws, prior.dim))
        self._others = np.empty((WARM_UP + draws, self._numbers.size))
        self._done = 0
        # Unless `rng` is given, the draws are a function of the data alone.
        key = np.array([sums.n.sum(), sums.yy.sum(), sums.xy.sum()]).view(np.uint32)
        own = np.random.PCG64(np.random.SeedSequence(key.tolist()))
        self._rng = Generator(own) if rng is None else rng

    @property
    def is_done(self) -> bool:
        """Whether all draws are made."""
        return self._done == len(self._covs)

    def advance(self, draws: int | None = None) -> int:
        """Make so many draws more, or all; returns how many were left to make."""
        last = len(self._covs)
        rows = slice(self._done, last if draws is None else min(self._done + draws, last))
        sums, prior, constant = self._sums, self.prior, self.units.constant
        draw = draw_arm_widths if prior.is_diagonal else draw_widths
        draw(
            self._rng,
            sums.xx,
            sums.xy,
            sums.yy,
            sums.n,
            self.units.mean_in(prior.hyper_mean),
            np.arange(prior.dim) == (-1 if constant is None else constant),
            prior.is_armed,
            prior.noise_std is not None,
            self._cov,
            self._hyper_vars,
            self._numbers,
            self._covs[rows],
            self._hypers[rows],
            self._others[rows],
        )
        self._done = rows.stop
        return rows.stop - rows.start

    def hierarchy(self) -> GaussianHierarchy:
        """The hierarchy in the middle of the draws."""
        return self._middle(slice(WARM_UP, None))

    def last(self) -> GaussianHierarchy:
        """The hierarchy of the last draw."""
        return self._middle(slice(-1, None))

    def _middle(self, rows: slice) -> GaussianHierarchy:
        """The hierarchy in the middle of some draws."""
        units = self.units
        hyper = np.exp(np.log(self._hypers[rows]).mean(0))
        noise = units.reward * np.exp(np.log(self._others[rows, NOISE]).mean() / 2)
        return self.prior.with_widths(
            units.cov_out(hyper if self.prior.is_diagonal else np.diag(hyper)),
            units.cov_out(_log_mean(self._covs[rows])),
            float(noise) if self.prior.noise_std is None else self.prior.noise_std,
            float(units.reward * self._others[rows, CENTRE].mean()),
        )


def most_rewarded(sums: TaskSums, prior: UnknownWidths) -> TaskSums:
    """The sums of tasks that have rewards; of those with the most, if there are very many."""
    cost = prior.dim if prior.is_diagonal else prior.dim**3
    most = max(LARGEST_SUMS // cost, 4 * prior.dim)
    rows = np.flatnonzero(sums.n > 0)
    if rows.size > most:
        rows = rows[np.sort(np.argsort(-sums.n[rows], kind="stable")[:most])]
    return sums.rows(rows)


def _log_mean(covs: Matrix) -> Matrix:
    """The exponential of the mean logarithm of covariances."""
    if covs.ndim == 2:
        middle: Matrix = np.exp(np.log(covs).mean(0))
        return middle
    values, vectors = np.linalg.eigh(covs)
    logs = np.log(np.maximum(values, np.finfo(float).eps * values[:, -1:]))
    mean = (vectors * logs[:, None, :] @ vectors.transpose(0, 2, 1)).mean(0)
    values, vectors = np.linalg.eigh(mean)
    return vectors * np.exp(values) @ vectors.T
