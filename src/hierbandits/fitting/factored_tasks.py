"""Tasks whose arms have a part in common, integrated out in O(K^2) each."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hierbandits.algebra import transposed
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class FactoredTasks:
    """Armed tasks with task_cov = diag(v) + g g', g the loading of one common number z.

    Given mu an arm has the gain u = 1 / (1 + v p), where p is its count over the noise variance.
    A task tells C = diag(s) - r (s g)(s g)' about mu, with s = u p and r the variance of z given
    mu.  See `kernels.common_part`.
    """

    sums: TaskSums
    population: Indices  # of each task, in rising order
    noise_var: Vector  # one for all rewards, (1,), or one for each arm, (K,)
    own: Vector  # v, (K,)
    loading: Vector  # g, (K,)
    gain: Matrix  # u, (tasks, K)
    told: Matrix  # s, (tasks, K)
    along: Matrix  # s g, (tasks, K)
    heard: Matrix  # u X'Y / sigma^2, (tasks, K)
    var: Vector  # r, (tasks,)
    mean: Vector  # of z if mu were zero, (tasks,)

    @classmethod
    def of(
        cls, sums: TaskSums, population: Indices, noise_var: Vector, own: Vector, loading: Vector
    ) -> "FactoredTasks":
        """Integrate z and the deviations out."""
        precision = sums.xx / noise_var
        gain = 1 / (1 + own * precision)
        told, heard = gain * precision, gain * sums.xy / noise_var
        along = told * loading
        var = 1 / (1 + along @ loading)
        mean = var * (heard @ loading)
        return cls(sums, population, noise_var, own, loading, gain, told, along, heard, var, mean)

    def about_mu(self, num_populations: int) -> tuple[Matrix, Matrix]:
        """What the tasks of each population say about mu: C, (P, K, K), and the linear part."""
        dim = self.own.size
        seen, weighted = np.zeros((num_populations, dim, dim)), np.zeros((num_populations, dim))
        for p, rows in self._populations():
            seen[p] = self._information(rows)
            weighted[p] = (self.heard[rows] - self.mean[rows, None] * self.along[rows]).sum(0)
        return seen, weighted

    @property
    def log_det(self) -> float:
        """The log of how much smaller the volume of the tasks' uncertainty has become."""
        return float(-np.log(self.gain).sum() - np.log(self.var).sum())

    @property
    def explained(self) -> float:
        """By how much the tasks' parameters lower the sum of squares, if mu were zero."""
        arms = self.own * self.heard * self.sums.xy / self.noise_var
        return float(arms.sum() + (self.heard @ self.loading * self.mean).sum())

    def slopes(self, hyper_means: Matrix, hyper_covs: Matrix) -> tuple[Matrix, Vector]:
        """d log p / d task_cov, and E sum (y - theta)^2 - y^2 in units of the noise variance."""
        slope: Matrix = np.zeros((self.own.size, self.own.size))
        square = np.zeros(self.own.size)  # of each arm
        for p, rows in self._populations():
            mu, cov = hyper_means[p], hyper_covs[p]
            told, along, var = self.told[rows], self.along[rows], self.var[rows, None]
            common = self.mean[rows, None] - var * (along @ mu)[:, None]  # of z, given mu_bar
            u = self.heard[rows] - told * mu - common * along
            q = along @ cov
            through = (along * q).sum(1, keepdims=True)
            cross = (var * told * q).T @ along
            around = cov * (told.T @ told) - cross - cross.T + (var**2 * through * along).T @ along
            slope += (u.T @ u - self._information(rows) + around) / 2
            gain, precision = self.gain[rows], self.sums.xx[rows] / self.noise_var
            theta = gain * (mu + self.loading * common) + self.own * self.heard[rows]
            square += (theta * (precision * theta - 2 * self.sums.xy[rows] / self.noise_var)).sum(0)
            spread = self.own * gain + var * (gain * self.loading) ** 2
            spread = spread + gain**2 * (
                np.diagonal(cov) - 2 * var * self.loading * q + (var * self.loading) ** 2 * through
            )
            square += (precision * spread).sum(0)
        one_noise = self.noise_var.size == 1
        return (slope + transposed(slope)) / 2, square.sum(keepdims=True) if one_noise else square

    def _information(self, rows: slice) -> Matrix:
        scaled = np.sqrt(self.var[rows, None]) * self.along[rows]
        information: Matrix = np.diag(self.told[rows].sum(0)) - scaled.T @ scaled
        return information

    def _populations(self) -> list[tuple[int, slice]]:
        """The rows of each population that has tasks."""
        if self.population.size and self.population[0] == self.population[-1]:
            return [(int(self.population[0]), slice(None))]
        starts = np.flatnonzero(np.diff(self.population, prepend=-1))
        ends = np.append(starts, self.population.size).tolist()
        return [(int(self.population[a]), slice(a, b)) for a, b in pairwise(ends)]
