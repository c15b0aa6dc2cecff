"""What models of a family predict of rewards: their linear predictors, and rewards drawn."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.kernels.predictive_density import log_predictive
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.predictor import Predictor, typical_prior
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Features, Indices, Matrix, Vector

DRAWS = 39
"""Rewards that are drawn beside each real one: it is as likely to have any rank among them."""


@dataclass(frozen=True, slots=True, eq=False)
class FamilyPredictor:
    """y ~ family(x @ theta), with theta ~ N(mean, cov) of the row's task."""

    family: RewardFamily
    predictor: Predictor  # of linear predictors

    @classmethod
    def of_each_model(
        cls,
        prior: GaussianHierarchy,
        sites: FamilySites,
        population: Indices,
        comparison: Comparison,
    ) -> "Mapping[str, FamilyPredictor]":
        """The hierarchy with this prior, and the two other models at their typical widths."""
        armed = sites.is_armed
        alone = typical_prior(comparison, "independent", armed)
        pooled = typical_prior(comparison, "pooled", armed)
        made = {
            "hierarchical": _hierarchical(prior, sites, population),
            "pooled": _pooled(pooled, sites, population),
            "independent": _hierarchical(alone, sites, population),
        }
        return {name: cls(sites.family, each) for name, each in made.items()}

    def log_score(self, tasks: Indices, features: Features, rewards: Vector) -> Vector:
        """The log density of each reward, (E,)."""
        mean, var = self.predictor.signal(tasks, features)
        ones, out = np.ones(rewards.size), np.empty(rewards.size)
        log_predictive(self.family.code, self.family.shape, rewards, ones, mean, var, out)
        self.family.check_numbers(out, rewards, ones)
        score: Vector = out + self.family.log_base(rewards, ones)
        return score

    def mean_reward(self, tasks: Indices, features: Features) -> Vector:
        """The mean of each reward, (E,)."""
        mean, var = self.predictor.signal(tasks, features)
        return self.family.mean_and_std(mean, np.sqrt(var))[0]

    def ranks(self, rng: Generator, tasks: Indices, features: Features, rewards: Vector) -> Vector:
        """Where each reward lies among DRAWS that are predicted, as a uniform number, (E,)."""
        mean, var = self.predictor.signal(tasks, features)
        eta = mean + np.sqrt(var) * rng.standard_normal((DRAWS, mean.size))
        drawn = self.family.draw(eta.ravel(), np.ones(eta.size), _uniforms(rng, eta.size))
        return ranked(rng, drawn.reshape(eta.shape), rewards)

    def total_ranks(
        self, rng: Generator, tasks: Indices, arms: Indices, totals: Vector, counts: Vector
    ) -> Vector:
        """The same of sums of so many rewards of an arm each; rewards of the family add up."""
        mean, var = self.predictor.signal(tasks, arms)
        eta = mean + np.sqrt(var) * rng.standard_normal((DRAWS, mean.size))
        each = np.tile(counts, DRAWS)
        drawn = self.family.draw_totals(eta.ravel(), each, _uniforms(rng, eta.size))
        return ranked(rng, drawn.reshape(eta.shape), totals)

    def sum_rank(
        self, rng: Generator, task: int, features: Matrix | Indices, total: float
    ) -> float:
        """The same of the sum of a task's rewards, of features or arms in rows."""
        node, one = self.predictor.node[task], self.predictor
        cov = np.diag(one.cov[node]) if one.cov.ndim == 2 else one.cov[node]
        values, vectors = np.linalg.eigh(cov)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        theta = one.mean[node] + rng.standard_normal((DRAWS, values.size)) @ root.T
        eta = theta[:, features] if features.ndim == 1 else theta @ features.T  # (DRAWS, rows)
        drawn = self.family.draw(eta.ravel(), np.ones(eta.size), _uniforms(rng, eta.size))
        sums = drawn.reshape(eta.shape).sum(1)
        return float(ranked(rng, sums[:, None], np.array([total]))[0])


def ranked(rng: Generator, drawn: Matrix, real: Vector) -> Vector:
    """Uniform if real numbers are like the drawn ones, (DRAWS, E); ties are broken at random."""
    below = (drawn < real).sum(0)
    below = below + rng.integers(0, (drawn == real).sum(0) + 1)
    rank: Vector = (below + rng.random(real.size)) / (DRAWS + 1)
    return rank


def _uniforms(rng: Generator, number: int) -> Vector:
    return np.maximum(rng.random(number), 1e-300)


def _hierarchical(prior: GaussianHierarchy, sites: FamilySites, population: Indices) -> Predictor:
    posteriors = TaskPosteriors.of(sites.match(prior.hyper_mean, prior.covs, population))
    return Predictor(posteriors.means, posteriors.covs, np.arange(sites.num_tasks), 0.0)


def _pooled(prior: GaussianHierarchy, sites: FamilySites, population: Indices) -> Predictor:
    belief = sites.match(prior.hyper_mean, [prior.hyper_cov], population)
    hypers = [belief.hyper(p) for p in range(belief.num_populations)]
    covs, means = np.array([h.cov for h in hypers]), np.array([h.mean for h in hypers])
    cov = np.diagonal(covs, axis1=1, axis2=2) if sites.is_armed else covs
    return Predictor(means, cov, population, 0.0)
