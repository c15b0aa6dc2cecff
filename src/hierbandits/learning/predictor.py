"""Predictions of single rewards and of means of several, from what a model knows."""

from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import condition, square_root, summed
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.kernels.quadratic import linear_forms
from hierbandits.learning.model_comparison import Comparison
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Predictor:
    """y ~ N(x @ mean, x' cov x + noise_var), with the mean and cov of the row's task."""

    mean: Matrix  # (nodes, d)
    cov: Matrix  # (nodes, d, d), or (nodes, K) if armed
    node: Indices  # of each task, (tasks,)
    noise_var: float

    @classmethod
    def hierarchical(cls, posterior: TaskPosteriors) -> "Predictor":
        """Each task by its own data and by those of the others."""
        every = np.arange(len(posterior.own))
        noise_var = posterior.prior.noise_std**2
        return cls(posterior.means(), posterior.covs(), every, noise_var)

    @classmethod
    def independent(
        cls, comparison: Comparison, sums: TaskSums, population: Indices
    ) -> "Predictor":
        """Each task by its own data alone, at the comparison's typical widths."""
        prior = stated(comparison, "independent", sums.is_armed)
        return cls.hierarchical(TaskPosteriors.of(prior, sums, population))

    @classmethod
    def pooled(cls, comparison: Comparison, sums: TaskSums, population: Indices) -> "Predictor":
        """All tasks of a population as one, at the comparison's typical widths."""
        prior = stated(comparison, "pooled", sums.is_armed)
        noise_var, num = prior.noise_std**2, int(population.max()) + 1
        data, weighted = (summed(part, population, num) / noise_var for part in (sums.xx, sums.xy))
        mean = np.broadcast_to(prior.hyper_mean, weighted.shape)
        root = np.broadcast_to(square_root(prior.hyper_cov), data.shape)
        after, factor, _ = condition(mean, root, data, weighted)
        cov = factor**2 if sums.is_armed else factor @ np.swapaxes(factor, -1, -2)
        return cls(after, cov, population, noise_var)

    def signal(self, tasks: Indices, features: Matrix | Indices) -> tuple[Vector, Vector]:
        """The mean and the variance of x @ theta for each row, (E,) each."""
        node = self.node[tasks]
        if features.ndim == 1:
            return self.mean[node, features], self.cov[node, features]
        mean, var = np.empty((2, len(features)))
        linear_forms(node, np.asarray(features, float), self.mean, self.cov, mean, var)
        return mean, var


def stated(comparison: Comparison, model: str, armed: bool) -> GaussianHierarchy:
    """The two-level hierarchy of a model at its typical widths; a zero width is that of one level.

    The pooled one is its hyper-prior alone: its task widths are only there to be positive.
    """
    (task, hyper), noise = comparison.typical[model], comparison.noise[model]
    dim, unit = comparison.unit.size, comparison.unit * noise
    task_std, hyper_std = (task or 1.0) * unit, hyper * unit
    form = GaussianHierarchy.armed if armed else GaussianHierarchy.linear
    return form(
        dim, hyper_mean=comparison.centre, hyper_std=hyper_std, task_std=task_std, noise_std=noise
    )
