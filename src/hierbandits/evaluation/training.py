"""Beliefs trained on part of a log: the reward model, and what trained policies know."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.beliefs.model_kinds import belief_after
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.evaluation.arm_features import with_features
from hierbandits.evaluation.reward_model import Stated
from hierbandits.fitting import fit_prior
from hierbandits.fitting.family_fit import fit_family_prior
from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.logs import Survey
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.reward_family import RewardFamily
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.recipes import Recipe, name_of
from hierbandits.types import Indices, Matrix, Name, Vector


class Trained(Protocol):
    """What frozen policies ask of a training."""

    @property
    def group(self) -> int:
        """The group of rows that is judged with it."""

    def model(self) -> ArmPosteriors[Belief]:
        """What the hierarchy itself believes."""

    def arm_posteriors(self, recipe: Recipe) -> ArmPosteriors[Posterior]:
        """What a policy of this recipe believes."""

    def arm_values(self) -> Vector:
        """The mean reward that the model expects if all rows played an arm, (K,)."""


@dataclass(frozen=True, slots=True, eq=False)
class PriorFit:
    """Fits a prior to sums, here or on a worker."""

    population: Indices  # of each task, (tasks,)
    arms: tuple[Name, ...] | None  # those that the prior names
    family: RewardFamily | None

    @classmethod
    def of(cls, survey: Survey, table: Matrix | None, family: RewardFamily | None) -> "PriorFit":
        """For sums of a log's arms, of their features, or of an encoder's."""
        named = family is not None or (table is None and survey.is_armed)
        return cls(survey.population, survey.arms if named else None, family)

    def __call__(self, sums: TaskSums) -> Stated:
        """The prior that fits best; its structure is the one that the sums support best."""
        if sums.n.sum() == 0:
            raise ValueError("log must have rows to train on and rows to evaluate, got too few")
        if self.family is not None:
            sites = FamilySites.of_arms(self.family, sums)
            fit = fit_family_prior(sites, population=self.population, intervals=False)
            return GeneralizedHierarchy(fit.prior.with_arms(self.arms), self.family)
        choice = StructureChoice.of(sums, self.population, None, seed=0)
        fit = fit_prior(
            sums, population=self.population, structure=choice.best, rank=choice.rank,
            intervals=False,
        )  # fmt: skip
        return fit.prior.with_arms(self.arms)


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """A prior, and the rewards of some rows that beliefs learn after it."""

    survey: Survey
    group: int  # the group of rows that is judged with it
    prior: Stated
    sums: TaskSums  # of the arms' features if there are any, otherwise armed
    table: Matrix | None  # the arms' features, (K, d); with contexts the features themselves

    @classmethod
    def of(
        cls,
        survey: Survey,
        group: int,
        sums: TaskSums,
        prior: Stated | None,
        table: Matrix | None,
        family: RewardFamily | None = None,
    ) -> "Training":
        """Train on armed sums, or on an encoder's; the prior is fitted to them unless it is given.

        Its structure is the one that they support best; arms of a `family` are independent.
        """
        if table is not None:
            sums = with_features(sums, table)
        if prior is None:
            prior = PriorFit.of(survey, table, family)(sums)
        if survey.log.encoder is not None:
            table = np.eye(survey.log.encoder.dim)
        return cls(survey, group, prior, sums, table)

    def model(self) -> ArmPosteriors[Belief]:
        """What the hierarchy itself believes."""
        population = self.survey.population
        belief = belief_after(self.prior, self.sums, population)
        assert isinstance(belief, Belief)
        return ArmPosteriors.of(belief, self.table, np.arange(population.size))

    def arm_posteriors(self, recipe: Recipe) -> ArmPosteriors[Posterior]:
        """What a policy of this recipe believes."""
        believed = recipe.believe(self.prior)
        if not believed.widths_known:
            raise ValueError(
                f"policy {name_of(recipe) or recipe.summary!r} learns its widths on the way; "
                "frozen after a log it is HierTS with the widths that fit the log: evaluate "
                "'frozen:HierTS'"
            )
        population = self.survey.population
        belief = belief_after(believed, self.sums, population)
        row = population if believed.num_levels == 1 else np.arange(population.size)
        return ArmPosteriors.of(belief, self.table, row)

    def arm_values(self) -> Vector:
        """The mean reward that the model expects if all training rows played an arm, (K,)."""
        n, means, encoder = self.sums.n, self.model().means, self.survey.log.encoder
        if encoder is None:
            armed: Vector = n @ means / n.sum()
            return armed
        form = (-1, len(encoder.arms), encoder.width)
        # Each arm's block of X'X begins with the sum of (1, z) over the rows that played it.
        blocks = self.sums.xx.reshape(*form, *form[1:])
        contexts = np.einsum("saaq->sq", blocks[:, :, 0])  # (tasks, width)
        values: Vector = np.einsum("sq,skq->k", contexts, means.reshape(form)) / n.sum()
        return values


def checked_prior(prior: Stated | None, survey: Survey, table: Matrix | None) -> Stated | None:
    """The prior, if it fits the log's arms; None if none was given."""
    if prior is None:
        return None
    if survey.log.encoder is not None:
        raise ValueError(
            "prior must not be given where rows have contexts: it is fitted to the features that "
            f"the log's own encoder makes of them, got {prior!r:.80}"
        )
    if not isinstance(prior, GaussianHierarchy | GeneralizedHierarchy) or prior.num_levels != 2:
        raise ValueError(f"prior must be a GaussianHierarchy of two levels, got {prior!r}")
    if table is not None:
        if prior.is_armed or prior.dim != table.shape[1]:
            raise ValueError(f"prior must have {table.shape[1]} features, got {prior!r}")
        return prior
    if not prior.is_armed:
        raise ValueError(f"prior must be armed unless arm_features are given, got {prior!r}")
    if prior.dim != len(survey.arms):
        raise ValueError(f"prior must have the log's {len(survey.arms)} arms, got {prior!r}")
    if prior.arms is not None:
        return _in_the_order_of(survey.arms, prior)
    stated = prior.hierarchy if isinstance(prior, GeneralizedHierarchy) else prior
    if survey.log.arms is None and not stated.arms_alike:
        raise ValueError(
            "prior tells the arms apart, so the log must say which is which: give Log.read their "
            f"names in the prior's order, arms=[...]; this log met them as {survey.arms!r:.80}"
        )
    return prior


def check_new_log(prior: Stated | None, sums: TaskSums, table: Matrix | None) -> None:
    """Raise an error if a prior was learned from the very log of these armed sums."""
    if prior is None or prior.learned_from is None:
        return
    totals = (sums if table is None else with_features(sums, table)).totals()
    if totals.same_log(prior.learned_from):
        raise ValueError(
            "prior must not be learned from the log that it is evaluated on, whose rows would "
            "count twice: leave it out, and it is fitted to rows that are not judged"
        )


def _in_the_order_of(arms: tuple[Name, ...], prior: Stated) -> Stated:
    """A prior that names its arms, with these arms in this order."""
    try:
        return prior.reordered(arms)
    except ValueError as error:
        raise ValueError(f"prior must be of the log's arms: {error}") from None
