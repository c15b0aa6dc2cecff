"""What a model predicts of single rewards, and of means of several."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.kernels.linear_forms import linear_forms
from hierbandits.learning.model_comparison import Comparison
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Predictor:
    """y ~ N(x @ mean, x' cov x + noise_var), with the mean and cov of the row's task."""

    mean: Matrix  # (nodes, d)
    cov: Matrix  # (nodes, d, d), or (nodes, K) if diagonal
    node: Indices  # the row of each task in these, (tasks,)
    noise_var: float | Vector  # one for all rows, or one for each arm, (K,)

    @classmethod
    def of_each_model(
        cls,
        prior: GaussianHierarchy,
        sums: TaskSums,
        population: Indices,
        noise_std: float | None,
        variances: Vector | None = None,
    ) -> "Mapping[str, Predictor]":
        """The hierarchy with this prior, and the two other models at their typical widths.

        `variances` are those of `OneNoise`, whose sums are then meant.
        """
        comparison = Comparison.of(sums, population, noise_std)
        models = {
            "hierarchical": cls.hierarchical(prior, sums, population),
            "pooled": cls.pooled(comparison, sums, population),
            "independent": cls.independent(comparison, sums, population),
        }
        if variances is None:
            return models
        return {name: replace(m, noise_var=m.noise_var * variances) for name, m in models.items()}

    @classmethod
    def hierarchical(
        cls, prior: GaussianHierarchy, sums: TaskSums, population: Indices
    ) -> "Predictor":
        """Predict each task from its own data and those of the other tasks."""
        posteriors = TaskPosteriors.of(Belief.from_sums(prior, sums, population=population))
        every = np.arange(len(posteriors.own))
        return cls(posteriors.means, posteriors.covs, every, prior.noise_std**2)

    @classmethod
    def independent(
        cls, comparison: Comparison, sums: TaskSums, population: Indices
    ) -> "Predictor":
        """Predict each task from its own data alone, at the comparison's typical widths."""
        prior = typical_prior(comparison, "independent", sums.is_armed)
        return cls.hierarchical(prior, sums, population)

    @classmethod
    def pooled(cls, comparison: Comparison, sums: TaskSums, population: Indices) -> "Predictor":
        """Predict all tasks of a population as one, at the comparison's typical widths."""
        prior = typical_prior(comparison, "pooled", sums.is_armed)
        alone = prior.with_levels(prior.hyper_mean, [prior.hyper_cov])
        belief = Belief.from_sums(alone, sums, population=population)
        hypers = [belief.hyper(p) for p in range(belief.num_populations)]
        covs = np.array([hyper.cov for hyper in hypers])
        means = np.array([hyper.mean for hyper in hypers])
        cov = np.diagonal(covs, axis1=1, axis2=2) if sums.is_armed else covs
        return cls(means, cov, population, prior.noise_std**2)

    def signal(self, tasks: Indices, features: Matrix | Indices) -> tuple[Vector, Vector]:
        """The mean and the variance of x @ theta for each row, (E,) each."""
        node = self.node[tasks]
        if features.ndim == 1:
            at = (node, features) if self.cov.ndim == 2 else (node, features, features)
            return self.mean[node, features], self.cov[at]
        mean, var = np.empty((2, len(features)))
        linear_forms(node, np.asarray(features, float), self.mean, self.cov, mean, var)
        return mean, var

    def noise_of(self, features: Matrix | Indices) -> float | Vector:
        """The noise variance of each row, (E,), or one for all."""
        if isinstance(self.noise_var, np.ndarray):
            by_row: Vector = self.noise_var[features]
            return by_row
        return self.noise_var


def typical_prior(comparison: Comparison, model: str, armed: bool) -> GaussianHierarchy:
    """The two-level hierarchy of a model at its typical widths.

    Of the pooled model's, only the hyper-prior is meant: its task widths are 1, since they must be
    positive.
    """
    (task, hyper), noise = comparison.typical[model], comparison.noise[model]
    dim, unit = comparison.unit.size, comparison.unit * noise
    task_std, hyper_std = (task or 1.0) * unit, hyper * unit
    form = GaussianHierarchy.armed if armed else GaussianHierarchy.linear
    return form(
        dim, hyper_mean=comparison.centre, hyper_std=hyper_std, task_std=task_std, noise_std=noise
    )
