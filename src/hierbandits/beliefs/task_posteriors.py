"""Every task of a log given its sums, in arrays: what all the findings about tasks start from."""

from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import condition, explained, square_root, summed, times
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices, Matrix


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaskPosteriors:
    """The exact posterior of a two-level hierarchy; covariances are diagonals, (K,), if armed.

        theta_s | mu ~ N(own_s + K_s mu, within_s)        K_s = within_s Sigma_0^-1
        mu_p         ~ N(hyper_mean_p, hyper_cov_p)

    Populations may have any number of tasks, in any order.
    """

    prior: GaussianHierarchy
    population: Indices  # of each task, (tasks,)
    data: Matrix  # G_s = X'X / sigma^2, (tasks, d, d)
    weighted: Matrix  # B_s = X'Y / sigma^2, (tasks, d)
    own: Matrix  # t_s, (tasks, d)
    within: Matrix  # P_s, (tasks, d, d)
    said: Matrix  # C_s, what the task tells about mu, (tasks, d, d)
    said_weighted: Matrix  # b_s, (tasks, d)
    hyper_mean: Matrix  # (P, d)
    hyper_cov: Matrix  # (P, d, d)

    @classmethod
    def of(cls, prior: GaussianHierarchy, sums: TaskSums, population: Indices) -> "TaskPosteriors":
        """The posterior given these sums."""
        noise_var, num_populations = prior.noise_std**2, int(population.max()) + 1
        data, weighted = sums.xx / noise_var, sums.xy / noise_var
        root = np.broadcast_to(square_root(prior.task_cov), data.shape)
        own, factor, _ = condition(np.zeros_like(weighted), root, data, weighted)
        looking_up = 1 / prior.task_cov if prior.is_armed else np.linalg.inv(prior.task_cov)
        said, told = explained(looking_up, factor, data), times_each(looking_up, own)
        hyper_mean, hyper_cov = _hyper(
            prior, summed(said, population, num_populations),
            summed(told, population, num_populations),
        )  # fmt: skip
        return cls(
            prior=prior,
            population=population,
            data=data,
            weighted=weighted,
            own=own,
            within=_squared(factor),
            said=said,
            said_weighted=told,
            hyper_mean=hyper_mean,
            hyper_cov=hyper_cov,
        )

    def gains(self) -> Matrix:
        """K_s: the weight of what the population says in each task, (tasks, d, d)."""
        cov = self.prior.task_cov
        return self.within / cov if cov.ndim == 1 else self.within @ np.linalg.inv(cov)

    def means(self) -> Matrix:
        """The posterior means of the tasks' parameters, (tasks, d)."""
        return self.own + times(self.gains(), self.hyper_mean[self.population])

    def covs(self) -> Matrix:
        """Their posterior covariances, (tasks, d, d)."""
        gains, above = self.gains(), self.hyper_cov[self.population]
        if gains.ndim == 2:
            return self.within + gains**2 * above
        return self.within + gains @ above @ np.swapaxes(gains, -1, -2)

    def without_each(self) -> tuple[Matrix, Matrix]:
        """For each task, mu given all other tasks: means (tasks, d) and covariances."""
        said, told = np.empty_like(self.said), np.empty_like(self.said_weighted)
        for p in range(len(self.hyper_mean)):
            rows = np.flatnonzero(self.population == p)
            said[rows], told[rows] = _others(self.said[rows]), _others(self.said_weighted[rows])
        return _hyper(self.prior, said, told)


def _others(part: Matrix) -> Matrix:
    """For each row the sum of all others: of those before and those after, as no difference is.

    A difference would leave rounding in place of a zero, which a wide hyper-prior magnifies.
    """
    total = np.zeros_like(part)
    np.cumsum(part[:-1], axis=0, out=total[1:])
    total[:-1] += np.cumsum(part[:0:-1], axis=0)[::-1]
    return total


def times_each(matrix: Matrix, vectors: Matrix) -> Matrix:
    """One symmetric matrix, or diagonal, times each row."""
    return vectors * matrix if matrix.ndim == 1 else vectors @ matrix


def _hyper(prior: GaussianHierarchy, said: Matrix, told: Matrix) -> tuple[Matrix, Matrix]:
    mean = np.broadcast_to(prior.hyper_mean, told.shape)
    factor = np.broadcast_to(square_root(prior.hyper_cov), said.shape)
    after, root, _ = condition(mean, factor, said, told)
    return after, _squared(root)


def _squared(factor: Matrix) -> Matrix:
    return factor**2 if factor.ndim == 2 else factor @ np.swapaxes(factor, -1, -2)
