"""The widths of a population, learned from the sums of its tasks, a few draws at a time."""

import numpy as np

from hierbandits.beliefs.standard_units import StandardUnits
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.kernels.arm_width_draws import draw_arm_widths
from hierbandits.kernels.width_conditionals import CENTRE, NOISE
from hierbandits.kernels.width_draws import draw_widths
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.types import Indices, Matrix, Vector

WARM_UP, DRAWS = 8, 24
"""Draws that are thrown away, and draws of which the mean is taken."""

LARGEST_SUMS = 2_000_000
"""The work of a draw, so that a look takes the tasks with the most rewards if there are more."""

_FIRST_WIDTH = 0.1  # of the first draw's tasks, in units of the rewards
_LEAST_NOISE = 1e-6  # of a stated noise, in units of the rewards: below it draws would not move


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
        self.cost = max(1, len(sums.n)) * work_of_task(prior)
        self.units = units = StandardUnits.of(sums)
        self._before = now or prior.hierarchy()
        self._sums = units.scaled(sums)
        self._mean = units.mean_in(prior.hyper_mean)
        if sums.is_armed and not prior.is_diagonal:
            self._sums = self._sums.with_unit_vectors()
        one = np.ones(prior.dim) if prior.is_diagonal else np.eye(prior.dim)
        self._cov: Matrix = _FIRST_WIDTH**2 * one
        noise, centre = self._before.noise_std / units.reward, 0.0
        if now is not None:
            self._cov = self._cov + units.cov_in(now.task_cov)  # draws widen slowly from nothing
        elif prior.noise_std is None:
            noise = 1.0
        if prior.is_armed:  # where all arms would be if they were equal
            centre = float((self._sums.xy.sum() - sums.xx.sum(0) @ self._mean) / sums.n.sum())
        self._numbers = np.array([max(noise, _LEAST_NOISE) ** 2, 1 / _FIRST_WIDTH**2, centre])
        self._hyper_vars = np.ones(prior.dim)
        self._covs = np.empty((WARM_UP + DRAWS, *one.shape))
        self._hypers = np.empty((WARM_UP + DRAWS, prior.dim))
        self._others = np.empty((WARM_UP + DRAWS, self._numbers.size))
        self._done = 0
        # The draws are a function of the data alone, in any unit and whatever their rounding.
        data = [sums.n.sum(), self._sums.yy.sum(), np.abs(self._sums.xy).sum()]
        with np.errstate(over="ignore"):
            key = np.array(data).astype(np.float32).view(np.uint32)
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
            self._mean,
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
        """The hierarchy in the middle of the draws.

        Where no hierarchy can be so (numbers are too large, or none), it is as it was before.
        """
        units, kept = self.units, slice(WARM_UP, None)
        with np.errstate(all="ignore"):
            try:
                hyper = np.exp(np.log(self._hypers[kept]).mean(0))
                noise = units.reward * np.exp(np.log(self._others[kept, NOISE]).mean() / 2)
                return self.prior.with_widths(
                    units.cov_out(hyper if self.prior.is_diagonal else np.diag(hyper)),
                    units.cov_out(_log_mean(self._covs[kept])),
                    float(noise) if self.prior.noise_std is None else self.prior.noise_std,
                    float(units.reward * self._others[kept, CENTRE].mean()),
                )
            except ValueError:
                return self._before


def work_of_task(prior: UnknownWidths) -> int:
    """The work of a task's share in a draw, in multiplications."""
    d = prior.dim
    return 14 * d if prior.is_diagonal else d**3 + 4 * d**2 + 16 * d + 16


def most_rewarded(n: Vector, prior: UnknownWidths) -> Indices:
    """The tasks that have rewards, `n` of each; those with the most, if there are very many."""
    most = max(LARGEST_SUMS // work_of_task(prior), 4 * prior.dim)
    tasks = np.flatnonzero(n > 0)
    if tasks.size > most:
        tasks = tasks[np.sort(np.argsort(-n[tasks], kind="stable")[:most])]
    return tasks


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
