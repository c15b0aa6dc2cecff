"""Beliefs trained on part of a log: the reward model, and what trained policies know."""

from dataclasses import dataclass

import numpy as np

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.evaluation.arm_features import with_features
from hierbandits.evaluation.arm_posteriors import ArmPosteriors
from hierbandits.fitting import fit_prior
from hierbandits.logs import Survey
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.recipes import Recipe
from hierbandits.types import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """A prior, and the rewards of some rows that beliefs learn after it."""

    survey: Survey
    group: int  # the group of rows that is judged with it
    prior: GaussianHierarchy
    sums: TaskSums  # of the arms' features if there are any, otherwise armed
    table: Matrix | None  # the arms' features, (K, d)

    @classmethod
    def of(
        cls,
        survey: Survey,
        group: int,
        sums: TaskSums,
        prior: GaussianHierarchy | None,
        table: Matrix | None,
    ) -> "Training":
        """Train on armed sums; the prior is fitted to them unless it is given."""
        if prior is None and sums.n.sum() == 0:
            raise ValueError("log must have rows to train on and rows to evaluate, got too few")
        if table is not None:
            sums = with_features(sums, table)
        if prior is None:
            prior = fit_prior(sums, population=survey.population).prior
        return cls(survey, group, prior, sums, table)

    def model(self) -> ArmPosteriors:
        """What the hierarchy itself believes."""
        return self._arm_posteriors(self.prior)

    def arm_posteriors(self, recipe: Recipe) -> ArmPosteriors:
        """What a policy of this recipe believes."""
        believed = recipe.believe(self.prior)
        assert isinstance(believed, GaussianHierarchy)  # others were refused as targets
        return self._arm_posteriors(believed)

    def _arm_posteriors(self, prior: GaussianHierarchy) -> ArmPosteriors:
        population = self.survey.population
        belief = Belief.from_sums(prior, self.sums, population=population)
        row = population if prior.num_levels == 1 else np.arange(population.size)
        return ArmPosteriors.of(belief, self.table, row)


def checked_prior(
    prior: GaussianHierarchy | None, survey: Survey, table: Matrix | None
) -> GaussianHierarchy | None:
    """The prior, if it fits the log's arms; None if none was given."""
    if prior is None:
        return None
    if not isinstance(prior, GaussianHierarchy) or prior.num_levels != 2:
        raise ValueError(f"prior must be a GaussianHierarchy of two levels, got {prior!r}")
    if table is not None:
        if prior.is_armed or prior.dim != table.shape[1]:
            raise ValueError(f"prior must have {table.shape[1]} features, got {prior!r}")
        return prior
    if not prior.is_armed:
        raise ValueError(f"prior must be armed unless arm_features are given, got {prior!r}")
    if prior.dim != len(survey.arms):
        raise ValueError(f"prior must have the log's {len(survey.arms)} arms, got {prior!r}")
    alike = all(np.ptp(part) == 0 for part in (prior.hyper_mean, *prior.covs))
    if survey.log.arms is None and not alike:
        raise ValueError(
            "prior tells the arms apart, so the log must say which is which: give Log.read their "
            f"names in the prior's order, arms=[...]; this log met them as {survey.arms!r:.80}"
        )
    return prior
