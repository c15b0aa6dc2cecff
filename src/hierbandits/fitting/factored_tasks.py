"""Tasks whose arms have a few parts in common, integrated out in O(K^2) for each part."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hierbandits.algebra import times, transposed
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class FactoredTasks:
    """Armed tasks with task_cov = diag(v) + G G', G the loadings of a few common numbers z.

    Given mu an arm has the gain u = 1 / (1 + v p), where p is its count over the noise variance.
    A task tells C = diag(s) - A R A' about mu, with s = u p, A = diag(s) G, and R the covariance of
    z given mu.  See `kernels.common_part`, where z is one number.
    """

    sums: TaskSums
    population: Indices  # of each task, in rising order
    noise_var: Vector  # one for all rewards, (1,), or one for each arm, (K,)
    own: Vector  # v, (K,)
    loading: Matrix  # G', (rank, K)
    gain: Matrix  # u, (tasks, K)
    told: Matrix  # s, (tasks, K)
    along: Matrix  # A', (rank, tasks, K)
    heard: Matrix  # u X'Y / sigma^2, (tasks, K)
    var: Matrix  # R, (tasks, rank, rank)
    mean: Matrix  # of z if mu were zero, (tasks, rank)
    turned: Matrix  # R A', (rank, tasks, K)

    @classmethod
    def of(
        cls, sums: TaskSums, population: Indices, noise_var: Vector, own: Vector, loading: Matrix
    ) -> "FactoredTasks":
        """Integrate z and the deviations out; `loading` is (K,), or (K, rank)."""
        across = np.atleast_2d(loading.T)
        precision = sums.xx / noise_var
        gain = 1 / (1 + own * precision)
        told, heard = gain * precision, gain * sums.xy / noise_var
        along = told * across[:, None]
        inner = np.eye(len(across)) + (along @ across.T).transpose(1, 0, 2)
        var = 1 / inner if len(across) == 1 else np.linalg.inv(inner)
        mean = times(var, heard @ across.T)
        turned = np.array([sum(var[:, i, j, None] * each for j, each in enumerate(along))
                           for i in range(len(across))])  # fmt: skip
        return cls(
            sums, population, noise_var, own, across, gain, told, along, heard, var, mean, turned
        )

    def about_mu(self, num_populations: int) -> tuple[Matrix, Matrix]:
        """What the tasks of each population say about mu: C, (P, K, K), and the linear part."""
        dim = self.own.size
        seen, weighted = np.zeros((num_populations, dim, dim)), np.zeros((num_populations, dim))
        for p, rows in self._populations():
            seen[p] = self._information(rows)
            weighted[p] = self.heard[rows].sum(0)
            for mean, along in zip(self.mean.T, self.along, strict=True):
                weighted[p] -= mean[rows] @ along[rows]
        return seen, weighted

    @property
    def log_det(self) -> float:
        """The log of how much smaller the volume of the tasks' uncertainty has become."""
        return float(-np.log(self.gain).sum() - np.linalg.slogdet(self.var)[1].sum())

    @property
    def explained(self) -> float:
        """By how much the tasks' parameters lower the sum of squares, if mu were zero."""
        arms = self.own * self.heard * self.sums.xy / self.noise_var
        return float(arms.sum() + (self.heard @ self.loading.T * self.mean).sum())

    def slopes(self, hyper_means: Matrix, hyper_covs: Matrix) -> tuple[Matrix, Vector]:
        """d log p / d task_cov, and E sum (y - theta)^2 - y^2 in units of the noise variance."""
        slope: Matrix = np.zeros((self.own.size, self.own.size))
        square = np.zeros(self.own.size)  # of each arm
        for p, rows in self._populations():
            mu, cov = hyper_means[p], hyper_covs[p]
            told, along, turned = self.told[rows], self.along[:, rows], self.turned[:, rows]
            common = self.mean[rows] - (turned @ mu).T  # of z, given mu_bar
            u = self.heard[rows] - told * mu
            q = along @ cov
            around = cov * (told.T @ told)
            theta = mu + common @ self.loading
            leaning = np.einsum("tij,jk->itk", self.var[rows], self.loading)  # R G'
            spread = np.diagonal(cov) + np.zeros_like(told)  # by not knowing mu
            known = np.zeros_like(told)  # by not knowing z, given mu
            for i, each in enumerate(along):
                u -= common[:, i, None] * each
                cross = (told * q[i]).T @ turned[i]
                around -= cross + cross.T
                known += self.loading[i] * leaning[i]
                spread -= 2 * leaning[i] * q[i]
                for j in range(len(along)):
                    through = (each * q[j]).sum(1, keepdims=True)
                    around += (through * turned[i]).T @ turned[j]
                    spread += through * leaning[i] * leaning[j]
            slope += (u.T @ u - self._information(rows) + around) / 2
            gain, precision = self.gain[rows], self.sums.xx[rows] / self.noise_var
            theta = gain * theta + self.own * self.heard[rows]
            square += (theta * (precision * theta - 2 * self.sums.xy[rows] / self.noise_var)).sum(0)
            square += (precision * (self.own * gain + gain**2 * (known + spread))).sum(0)
        one_noise = self.noise_var.size == 1
        return (slope + transposed(slope)) / 2, square.sum(keepdims=True) if one_noise else square

    def _information(self, rows: slice) -> Matrix:
        information: Matrix = np.diag(self.told[rows].sum(0))
        for along, turned in zip(self.along, self.turned, strict=True):
            information -= along[rows].T @ turned[rows]
        return (information + information.T) / 2

    def _populations(self) -> list[tuple[int, slice]]:
        """The rows of each population that has tasks."""
        if self.population.size and self.population[0] == self.population[-1]:
            return [(int(self.population[0]), slice(None))]
        starts = np.flatnonzero(np.diff(self.population, prepend=-1))
        ends = np.append(starts, self.population.size).tolist()
        return [(int(self.population[a]), slice(a, b)) for a, b in pairwise(ends)]
