"""From a log of clicks or counts, once it is read, to a report."""

from typing import Any

from hierbandits.fitting.structure import StructureKind
from hierbandits.learning.correlations import Correlations
from hierbandits.learning.family_steps import FamilySteps
from hierbandits.learning.family_trial import FamilyTrial
from hierbandits.learning.learning_report import LearningReport
from hierbandits.learning.log_checks import LogChecks
from hierbandits.learning.log_offers import LogOffers
from hierbandits.learning.outliers import Outliers
from hierbandits.learning.promises import Promises
from hierbandits.learning.shrinkage import Shrinkage
from hierbandits.learning.starting import starting_prior
from hierbandits.logs import Batch, Limits, Split
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.reporting.progress import Progress, progress_bar


def family_report(
    steps: FamilySteps,
    offers: LogOffers | None,
    split: Split,
    *,
    structure: StructureKind | None,
    rank: int,
    horizon: int | None,
    runs: int,
    seed: int,
    backend: str,
    progress: Progress,
    limits: Limits,
    settings: dict[str, Any],
) -> LearningReport:
    """All that `learn_prior` does after it has read a log, for rewards of a family.

    Tasks, widths and means are on the scale of linear predictors throughout.  `structure` is None
    if the log is to choose it.
    """
    survey, sums, family = steps.survey, steps.gathered.total(), steps.family
    names, choice = (survey.tasks, survey.coordinates), None
    if structure is None:
        with progress_bar("Choosing a structure", None, progress):
            choice = steps.choice(seed, backend)
        structure, rank = choice.best, choice.rank
    with progress_bar("Fitting the widths", None, progress):
        fit = steps.fit(structure, rank)
        posteriors = steps.posteriors(fit.prior)
        similarity, site_sums = steps.similarity(fit, posteriors), steps.site_sums()
        comparison = steps.comparison()
    calibration, checks = None, LogChecks(survey, sums, limits, noise_follows=True)
    if split.share > 0:
        with progress_bar("Fitting the training rows", None, progress):
            judge = steps.calibration(split, structure, rank, seed)
    with progress_bar("Checking the rows", survey.num_rows, progress) as bar:

        def check(batch: Batch) -> None:
            checks.add(batch)
            bar.advance(batch.num_rows)

        if split.share > 0:
            calibration = judge(check)
        else:
            for batch in survey.log.batches():
                check(batch)
    before = GeneralizedHierarchy(fit.prior, family)
    prior = GeneralizedHierarchy(starting_prior(fit.prior, posteriors, sums), family)
    start = steps.start(before, prior)
    promises = None
    if runs:
        with progress_bar("Drawing worlds", None, progress):
            trial = FamilyTrial(
                start, fit, prior, steps, offers, horizon=horizon, runs=runs, seed=seed
            )
        promises = Promises.of_trial(trial, progress, backend)
    return LearningReport(
        start=start,
        prior=prior,
        before_log=before,
        log=survey.summary,
        num_rows=survey.num_rows,
        num_tasks=survey.num_tasks,
        arms=survey.arms if survey.is_armed else None,
        similarity=similarity,
        structure=choice,
        correlations=Correlations.of(fit.prior, survey.coordinates),
        comparison=comparison,
        shrinkage=Shrinkage.of(posteriors, sums.n, *names),
        outliers=Outliers.of(fit.prior, site_sums, posteriors, *names),
        outlier_rows=None,
        calibration=calibration,
        checks=checks.results(choice, seed),
        has_time=survey.log.columns.time is not None,
        has_propensities=survey.has_propensities,
        promises=promises,
        settings=settings,
        rewards=steps.words,
    )
