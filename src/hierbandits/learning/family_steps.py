"""From a log of clicks or counts to a prior of linear predictors and a report on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.beliefs.family_width_look import link_of_mean
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.fitting import Fit
from hierbandits.fitting.family_fit import fit_family_prior
from hierbandits.fitting.structure import StructureKind
from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.learning.calibration import Calibration
from hierbandits.learning.family_calibration import family_calibration
from hierbandits.learning.family_evidence import FamilyEvidence
from hierbandits.learning.family_predictor import FamilyPredictor
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.task_similarity import Similarity
from hierbandits.learning.width_evidence import feature_sizes
from hierbandits.logs import Batch, GroupSums, Split, Start, Survey
from hierbandits.logs.family_rows import FamilyRows
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Indices, Vector


@dataclass(frozen=True, slots=True, eq=False)
class FamilySteps:
    """The steps of `learn_prior` that differ where rewards are of a family.

    `sites` hold the rewards; once they match they are sums of Gaussian rewards of noise 1, and
    what follows from sums follows from these.
    """

    survey: Survey
    gathered: GroupSums
    rows: FamilyRows
    sites: FamilySites

    @classmethod
    def of(
        cls, survey: Survey, gathered: GroupSums, rows: FamilyRows, num_groups: int
    ) -> "FamilySteps":
        """After a log was read."""
        return cls(survey, gathered, rows, rows.of(range(num_groups), gathered))

    @property
    def family(self) -> RewardFamily:
        """Of the rewards."""
        return self.rows.family

    def choice(self, seed: int, backend: str) -> StructureChoice:
        """The structures that the log supports."""

        def fit_some(tasks: Indices, kind: StructureKind, rank: int) -> Fit:
            return fit_family_prior(
                self.sites.rows(tasks), population=self.survey.population[tasks],
                structure=kind, rank=rank, intervals=False,
            )  # fmt: skip

        sums = self.gathered.total()
        return StructureChoice.of(
            sums, self.survey.population, None, seed, fit_some=fit_some, backend=backend
        )

    def fit(self, structure: StructureKind, rank: int) -> Fit:
        """The widths that fit best."""
        return self._fit(self.sites, structure, rank)

    def _fit(
        self, sites: FamilySites, structure: StructureKind, rank: int, *, intervals: bool = True
    ) -> Fit:
        population = self.survey.population
        fit = fit_family_prior(
            sites, population=population, structure=structure, rank=rank, intervals=intervals
        )
        names = self.survey.arms if self.survey.is_armed else None
        return replace(fit, prior=fit.prior.with_arms(names))

    def posteriors(self, prior: GaussianHierarchy) -> TaskPosteriors:
        """What is known of linear predictors after the log; the sites then match."""
        return TaskPosteriors.of(
            self.sites.match(prior.hyper_mean, prior.covs, self.survey.population)
        )

    def site_sums(self) -> TaskSums:
        """The sites as sums of Gaussian rewards of noise 1, with the log's numbers of rewards."""
        sums = self.sites.sums()
        return TaskSums(sums.xx, sums.xy, sums.yy, self.gathered.total().n)

    def comparison(self, sites: FamilySites | None = None) -> Comparison:
        """Are tasks one, alike, or strangers, by all rewards or by some."""
        some = self.sites.rows(np.arange(self.sites.num_tasks)) if sites is None else sites
        centre = link_of_mean(self.family, some.rewards, some.exposure) if some.is_armed else 0.0
        unit = 1 / feature_sizes(self.gathered.total())
        evidence = FamilyEvidence(some, self.survey.population, unit, centre)
        return replace(Comparison.by(evidence, 1.0), scale=f"in {self.family.LINK}")

    def similarity(self, fit: Fit, posteriors: TaskPosteriors) -> Similarity:
        """How similar tasks are, on the scale of linear predictors.

        One reward tells as much as a Gaussian one of `noise_std`, on average; what a task needs
        follows from what the rewards of each coordinate tell.
        """
        sums, sites, survey = self.gathered.total(), self.sites.sums(), self.survey
        told = sites.xx.sum(0) if sums.is_armed else np.diagonal(sites.xx.sum(0))
        seen = sums.xx.sum(0) if sums.is_armed else np.diagonal(sums.xx.sum(0))
        noise: Vector = np.sqrt(seen / np.maximum(told, 1e-300))  # of each coordinate
        typical = float(np.sqrt(seen.sum() / max(float(told.sum()), 1e-300)))
        prior = fit.prior.with_levels(fit.prior.hyper_mean, fit.prior.covs, noise_std=typical)
        of_one = replace(fit.noise_width, std=np.array([typical]))
        plain = Similarity.of(
            replace(fit, prior=prior, noise_width=of_one),
            posteriors,
            sums,
            survey.coordinates,
            survey.populations,
        )
        ratio = (noise / typical) ** 2
        needs = plain.rewards_to_equal * ratio
        return replace(
            plain,
            share=1 / (1 + needs),
            rewards_to_equal=needs,
            rewards_ends=plain.rewards_ends * ratio,
        )

    def calibration(
        self,
        split: Split,
        structure: StructureKind,
        rank: int,
        seed: int,
    ) -> Callable[[Callable[[Batch], object]], Calibration]:
        """Fit the training rows; what is returned then reads the log and judges them."""
        training = self.rows.of([0], self.gathered)
        trained = self._fit(training, structure, rank, intervals=False).prior
        comparison = self.comparison(training)
        predictors = FamilyPredictor.of_each_model(
            trained, training, self.survey.population, comparison
        )
        return partial(_judged, self, split, predictors, seed)

    def start(self, learned: GeneralizedHierarchy, after_log: GeneralizedHierarchy) -> Start:
        """The best start that the log allows.

        Sums of arms tell all of their tasks.  Where they do not, a start knows what tasks have in
        common, and the tasks of the log start anew.  With several populations a new one is one
        more draw from the learned hyper-prior.
        """
        survey = self.survey
        if survey.num_populations > 1:
            return Start(learned, encoder=survey.log.encoder)
        if self.rows.is_summed:
            return Start(learned, self.gathered.total(), survey.tasks, survey.arms)
        return Start(after_log, encoder=survey.log.encoder)

    @property
    def words(self) -> str:
        """What rewards are taken for, and how they were kept."""
        family, kept = self.family, "as sums of each task's arms, which tell all"
        if not self.rows.is_summed:
            kept = f"row by row, {self.sites.tasks.size:,} rows where those alike are one"
        return (
            f"Rewards are taken for {family.NAME}, and kept {kept}. Means, widths and intervals of "
            f"tasks are in {family.LINK}; the noise is that of a Gaussian reward which tells as "
            "much of them as one of these does, on average."
        )


def _judged(
    steps: FamilySteps,
    split: Split,
    predictors: Mapping[str, FamilyPredictor],
    seed: int,
    with_each: Callable[[Batch], object],
) -> Calibration:
    return family_calibration(steps.survey, split, steps.gathered, predictors, with_each, seed)
