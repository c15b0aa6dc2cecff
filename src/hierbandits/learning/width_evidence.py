"""The evidence of pooled, hierarchical and independent tasks at any widths, from sums."""

from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import summed, transposed
from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WidthEvidence:
    """The evidence of every two widths, in units where the noise is 1 and features have size 1:

        mu_p ~ N(0, q^2 I),  theta_s ~ N(mu_p, t^2 I),  y - centre ~ N(x @ theta_s, 1)

    Tasks are kept in the eigenvectors of X'X, where every width t is a division.
    """

    unit: Vector  # of each coordinate of theta, in noise units: 1 / the feature's size, (d,)
    centre: float  # taken off the rewards: their mean if armed, otherwise 0
    population: Indices  # (tasks,)
    counts: Vector  # rewards, (P,)
    squares: Vector  # Y'Y, (P,)
    values: Matrix  # eigenvalues of X'X, (tasks, d)
    vectors: Matrix | None  # eigenvectors, (tasks, d, d); None if armed
    weighted: Matrix  # X'Y along the eigenvectors, (tasks, d)

    @classmethod
    def of(cls, sums: TaskSums, population: Indices, noise_std: float = 1.0) -> "WidthEvidence":
        """Read these sums; without `noise_std`, units remain unknown."""
        num, sizes = int(population.max()) + 1, feature_sizes(sums)
        centre = float(sums.xy.sum() / sums.xx.sum()) if sums.is_armed else 0.0
        xy, xx, yy = sums.xy, sums.xx, sums.yy
        if sums.is_armed:
            yy = yy + centre * (centre * xx.sum(1) - 2 * xy.sum(1))
            xy, values, vectors = xy - centre * xx, xx, None
        else:
            values, vectors = np.linalg.eigh(xx / np.outer(sizes, sizes))
            values = np.maximum(values, 0.0)
            xy = np.einsum("sji,sj->si", vectors, xy / sizes)
        return cls(
            unit=1 / sizes,
            centre=centre,
            population=population,
            counts=summed(sums.n, population, num),
            squares=summed(np.maximum(yy, 0.0), population, num) / noise_std**2,
            values=values,
            vectors=vectors,
            weighted=xy / noise_std,
        )

    def at(self, t: float) -> "GivenTaskWidth":
        """What the tasks say about mu if their width is t; 0 pools the tasks."""
        num, inner = len(self.counts), 1.0 + t**2 * self.values
        informations, weighted = self.values / inner, self.weighted / inner  # of each task
        if self.vectors is None:
            information = summed(informations, self.population, num)
            along = summed(weighted, self.population, num)
        else:
            turned = transposed(self.vectors)
            matrices = (self.vectors * informations[:, None, :]) @ turned
            weighted = (weighted[:, None, :] @ turned)[:, 0]
            information, axes = np.linalg.eigh(summed(matrices, self.population, num))
            information = np.maximum(information, 0.0)
            along = np.einsum("pji,pj->pi", axes, summed(weighted, self.population, num))
        log_var = float(np.log(inner).sum())
        square = float(self.squares.sum() - (t**2 * self.weighted**2 / inner).sum())
        return GivenTaskWidth(float(self.counts.sum()), log_var, square, information, along)

    def noise(self, task: float, hyper: float) -> float:
        """The most probable noise at these widths; a billionth of the rewards' size at least."""
        evidence = self.at(task).evidence(np.array([hyper]))
        size = np.sqrt(self.squares.sum() / self.counts.sum()) or abs(self.centre) or 1.0
        left = np.sqrt(max(float(evidence.square[0]), 0.0) / evidence.count[0])
        return float(max(left, 1e-9 * size))


@dataclass(frozen=True, slots=True, eq=False)
class GivenTaskWidth:
    """The tasks integrated out at one task width: what remains is Gaussian in mu."""

    count: float
    log_var: float
    square: float
    information: Matrix  # about mu, of all tasks of a population: its eigenvalues, (P, d)
    along: Matrix  # the linear part along its eigenvectors, (P, d)

    def evidence(self, hyper: Vector) -> Evidence:
        """For each hyper width q, (Q,); a width of 0 makes tasks independent."""
        var = hyper[:, None, None] ** 2  # against (Q, P, d)
        inner = 1.0 + var * self.information
        log_var = self.log_var + np.log(inner).sum((1, 2))
        explained = (var * self.along**2 / inner).sum((1, 2))
        count = np.full(hyper.size, self.count)
        return Evidence(np.stack([count, log_var, self.square - explained]))


def feature_sizes(sums: TaskSums) -> Vector:
    """The root mean square of each feature, (d,); arms have size 1.

    A feature that is always 0 gets the size of the largest one.
    """
    if sums.is_armed:
        return np.ones(sums.xy.shape[1])
    return np.sqrt(sums.feature_mean_squares())
