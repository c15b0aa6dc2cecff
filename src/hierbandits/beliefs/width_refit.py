"""The widths of a population, learned from the sums of its tasks, a few draws at a time."""

import numpy as np

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

_FIRST_WIDTH = 0.1  # of the first draw's tasks, in units of the rewards
_LEAST_NOISE = 1e-8  # of a stated noise, in units of the rewards: below it draws would not move


class WidthRefit:
    """Posterior draws of widths and correlations, and the hierarchy in the middle of them.

    The middle is the mean of log noise and of the matrix logarithms of the covariances.  Deciding
    under it has less regret than deciding under a draw: a draw of a width that is far too wide
    costs much, and such draws are frequent where little is known.
    """

    def __init__(
        self, prior: UnknownWidths, sums: TaskSums, now: GaussianHierarchy | None = None
    ) -> None:
        self.prior = prior
        self.cost = max(1, len(sums.n)) * (prior.dim if prior.is_diagonal else prior.dim**3)
        self.units = units = StandardUnits.of(sums)
        self._sums = units.scaled(sums)
        if sums.is_armed and not prior.is_diagonal:
            self._sums = self._sums.with_unit_vectors()
        shape = (prior.dim,) if prior.is_diagonal else (prior.dim, prior.dim)
        self._cov: Matrix = _FIRST_WIDTH**2 * (np.ones(shape) if prior.is_diagonal else np.eye(*shape))
        noise = 1.0 if prior.noise_std is None else prior.noise_std / units.reward
        if now is not None:
            self._cov, noise = units.cov_in(now.task_cov), now.noise_std / units.reward
        self._numbers = np.array([max(noise, _LEAST_NOISE) ** 2, 1 / _FIRST_WIDTH**2, 0.0])
        self._hyper_vars = np.ones(prior.dim)
        self._covs = np.empty((WARM_UP + DRAWS, *shape))
        self._hypers = np.empty((WARM_UP + DRAWS, prior.dim))
        self._others = np.empty((WARM_UP + DRAWS, self._numbers.size))
        self._done = 0
        # The draws are a function of the data alone.
        key = np.array([sums.n.sum(), sums.yy.sum(), sums.xy.sum()]).view(np.uint32)
        self._rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(key.tolist())))

    @property
    def is_done(self) -> bool:
        """Whether all draws are made."""
        return self._done == len(self._covs)

    def advance(self, draws: int = WARM_UP + DRAWS) -> int:
        """Make so many draws more; returns how many were left to make."""
        rows = slice(self._done, min(self._done + draws, len(self._covs)))
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
        units, kept = self.units, slice(WARM_UP, None)
        hyper = np.exp(np.log(self._hypers[kept]).mean(0))
        noise = units.reward * np.exp(np.log(self._others[kept, NOISE]).mean() / 2)
        return self.prior.with_widths(
            units.cov_out(hyper if self.prior.is_diagonal else np.diag(hyper)),
            units.cov_out(_log_mean(self._covs[kept])),
            float(noise) if self.prior.noise_std is None else self.prior.noise_std,
            float(units.reward * self._others[kept, CENTRE].mean()),
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
