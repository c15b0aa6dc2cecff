"""From a log to a prior and a report on it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import count, one_of
from hierbandits.fitting import fit_prior
from hierbandits.fitting.structure import StructureKind
from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.learning.calibration import Calibration
from hierbandits.learning.correlations import Correlations
from hierbandits.learning.family_learner import family_report
from hierbandits.learning.family_steps import FamilySteps
from hierbandits.learning.learning_report import LearningReport
from hierbandits.learning.log_checks import LogChecks
from hierbandits.learning.log_offers import Blocks, LogOffers
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.one_noise import OneNoise
from hierbandits.learning.outlier_rows import OutlierRows
from hierbandits.learning.outliers import Outliers
from hierbandits.learning.own_fits import OwnFits
from hierbandits.learning.predictor import Predictor
from hierbandits.learning.promises import Promises
from hierbandits.learning.shrinkage import Shrinkage
from hierbandits.learning.start_trial import StartTrial
from hierbandits.learning.starting import start_from, starting_prior
from hierbandits.learning.task_similarity import LEAST_REPEATS, Similarity
from hierbandits.logs import LIMITS, ArmSquares, Batch, GroupSums, Limits, Log, Split, Survey
from hierbandits.logs.family_guess import FamilyGuess
from hierbandits.logs.family_rows import FamilyRows
from hierbandits.models.gaussian_rewards import GaussianRewards
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.reward_families import checked_family
from hierbandits.models.reward_family import RewardFamily
from hierbandits.reporting.progress import Progress, progress_bar
from hierbandits.reporting.provenance import MADE_FROM
from hierbandits.types import Name
from hierbandits.workers.backends import LOCAL, checked_backend

LEAST_NOISE = 1e-5
"""The least std of rewards about their task's fit, relative to their size.

Sums of squares lose a smaller one to rounding.
"""


def learn_prior(
    source: Any,
    *,
    task: str | None = None,
    reward: str | None = None,
    arm: str | None = None,
    features: str | Sequence[str] | None = None,
    population: str | None = None,
    time: str | None = None,
    context: Sequence[str] | None = None,
    arms: Sequence[Name] | None = None,
    structure: StructureKind | Literal["auto"] = "auto",
    rank: int = 1,
    noise_std: float | None = None,
    held_out: float = 0.2,
    horizon: int | None = None,
    runs: int = 60,
    seed: int = 0,
    rewards: str | RewardFamily | None = None,
    backend: str = LOCAL,
    progress: Progress = None,
    limits: Limits = LIMITS,
) -> tuple[GaussianHierarchy | GeneralizedHierarchy, LearningReport]:
    """The prior that past rewards teach, and a report on whether to trust and to share it.

    `source` is an `hb.Log`; or a polars, pandas or Arrow table, or .parquet or .csv files of any
    size, as `Log.read` takes them, whose columns `task`, `reward` and either `arm` or `features`
    (one column of lists, or several columns) are named.  With both, `features` are columns of the
    context, numbers, text or booleans, and an `Encoder` makes the arms' features of them;
    `report.start` has it.  The log is read twice, once more if tasks stand out or there is a
    context, and never held as a whole.  Name a column of `time` as well, and the report says
    whether early and late rows differ.  `context` names the features that describe who comes, which
    no agent can choose, where there are no arms: promises offer the others.

    `report.start` is what to give an agent: `hb.Agent(report.start)` has learned the log.  The
    prior alone is for tasks that are not in the log: with one population, mu has its posterior
    given the whole log; with several, it is as if drawn anew from the learned hyper-prior.
    `fit_prior` explains `structure`, `rank` and `noise_std`; with "auto" the structure is the one
    that the log gives most evidence for.  `held_out` is the share of rows on which predictions are
    checked, and `runs` the number of worlds in which the start is simulated for its promises; 0
    leaves either out.  Promises are for `horizon` rounds, or, unless given, for as many as a
    typical task has rows.  `rewards` is the family of rewards or its name, "bernoulli" for clicks
    say (see `GeneralizedHierarchy`): the prior is then one of linear predictors, and rewards that
    the family cannot have are refused.  On a `backend` of "ray", "dask" or "spark", see `simulate`,
    structures are fitted and worlds simulated by its workers; the numbers are the same.
    `progress` shows a bar for each stage (None: on a
    terminal), or is a function that is called with the steps of a stage done so far and all of its
    steps.  A log that is too large for the `limits` is refused as soon as that is seen.
    """
    checked_backend(backend)
    columns = {"task": task, "reward": reward, "arm": arm, "population": population, "time": time}
    log = Log.of(source, {**columns, "features": features}, arms)
    made_from = log.made_from()
    split, runs = Split.held_out(held_out, seed), count("runs", runs)
    if runs == 1:
        raise ValueError("runs must be 0 or at least 2, got 1: one world tells no interval")
    horizon = None if horizon is None else count("horizon", horizon, least=1)
    one_of("structure", structure, ("auto", *get_args(StructureKind)))
    gathered, arm_squares = GroupSums(split.num_groups, limits=limits), ArmSquares(split.num_groups)
    family_rows, guess = _family_rows(rewards, noise_std, log, limits), FamilyGuess()
    has_plain_arms = log.columns.arm is not None and log.encoder is None
    by_arm = structure == "auto" and noise_std is None and has_plain_arms

    def gather(batch: Batch) -> None:
        limits.check_fit(len(batch.names.tasks), batch.dim, armed=batch.is_armed)
        groups = split.groups(batch.numbers)
        gathered.add(batch, groups)
        guess.add(batch.rewards)
        if family_rows is not None:
            family_rows.add(batch, groups)
        elif by_arm:
            arm_squares.add(batch, groups)

    with progress_bar("Reading the log", None, progress):
        survey = Survey.of(
            log,
            seed=seed,
            with_each=gather,
        )
    _check_enough(survey, gathered, split)
    offers = _offers(survey, context)
    settings: dict[str, Any] = {"structure": structure, "rank": rank, "noise_std": noise_std}
    settings |= survey.read_as() | {MADE_FROM: made_from | survey.rows_read()}
    settings |= {"held_out": held_out, "horizon": horizon, "runs": runs, "seed": seed}
    if family_rows is not None:
        report = family_report(
            FamilySteps.of(survey, gathered, family_rows, split.num_groups), offers, split,
            structure=None if structure == "auto" else structure, rank=rank, horizon=horizon,
            runs=runs, seed=seed, backend=backend, progress=progress, limits=limits,
            settings=settings | {"rewards": family_rows.family.to_dict()},
        )  # fmt: skip
        return report.prior, report
    sums, names = gathered.total(), (survey.tasks, survey.coordinates)
    if noise_std is None:
        _check_noise(sums)
    squares = arm_squares.total() if by_arm else None
    choice, kind = None, structure
    if kind == "auto":
        with progress_bar("Choosing a structure", None, progress):
            choice = StructureChoice.of(
                sums, survey.population, noise_std, seed, squares, backend=backend
            )
        kind, rank, by_arm = choice.best, choice.rank, choice.has_noise_by_arm
    fit_to = partial(
        fit_prior, population=survey.population, structure=kind, rank=rank, noise_std=noise_std
    )
    with progress_bar("Fitting the widths", None, progress):
        fit = fit_to(sums, squares=squares if by_arm else None)
        fit = replace(fit, prior=fit.prior.with_arms(survey.arms if survey.is_armed else None))
        weighed = OneNoise.of(fit, sums, squares).sums
        posteriors = TaskPosteriors.of(
            Belief.from_sums(fit.prior, weighed, population=survey.population)
        )
        comparison = Comparison.of(weighed, survey.population, noise_std)
    calibration, checks = None, LogChecks(survey, sums, limits)
    if held_out > 0:
        with progress_bar("Fitting the training rows", None, progress):
            training, its_squares = gathered.of([0]), arm_squares.of([0]) if by_arm else None
            trained = fit_to(training, squares=its_squares, intervals=False)
            as_one = OneNoise.of(trained, training, its_squares)
            predictors = Predictor.of_each_model(
                trained.prior, as_one.sums, survey.population, noise_std, as_one.variances
            )
    with progress_bar("Checking the rows", survey.num_rows, progress) as steps:

        def check(batch: Batch) -> None:
            checks.add(batch)
            steps.advance(batch.num_rows)

        if held_out > 0:
            calibration = Calibration.of(survey, split, gathered, predictors, check)
        else:
            for batch in log.batches():
                check(batch)
    start = start_from(survey, sums, fit.prior, noise_std)
    prior = starting_prior(fit.prior, posteriors, sums)
    similarity = Similarity.of(fit, posteriors, sums, survey.coordinates, survey.populations)
    promises = None
    if runs and similarity.told.any():  # otherwise nobody knows how much new tasks differ
        with progress_bar("Drawing worlds", None, progress):
            trial = StartTrial(
                start, fit, prior, choice, offers, horizon=horizon, runs=runs, seed=seed
            )
        promises = Promises.of_trial(trial, progress, backend)
    outliers = Outliers.of(fit.prior, weighed, posteriors, *names, checks.noise_shape())
    report = LearningReport(
        start=start,
        prior=prior,
        before_log=fit.prior,
        log=survey.summary,
        num_rows=survey.num_rows,
        num_tasks=survey.num_tasks,
        arms=survey.arms if survey.is_armed else None,
        similarity=similarity,
        structure=choice,
        correlations=Correlations.of(fit.prior, survey.coordinates),
        comparison=comparison,
        shrinkage=Shrinkage.of(posteriors, sums.n, *names),
        outliers=outliers,
        outlier_rows=OutlierRows.of(survey, outliers, fit.noise_width.std),
        calibration=calibration,
        checks=checks.results(choice, seed),
        has_time=log.columns.time is not None,
        has_propensities=survey.has_propensities,
        promises=promises,
        settings=settings,
        rewards=None if rewards is not None else guess.proposal,
    )
    return report.prior, report


def _family_rows(
    rewards: str | RewardFamily | None, noise_std: float | None, log: Log, limits: Limits
) -> FamilyRows | None:
    """What gathers rewards of a family; None if they are Gaussian."""
    if rewards is None or rewards == GaussianRewards.NAME:
        return None
    family = checked_family(rewards)
    if noise_std is not None:
        raise ValueError(
            f"noise_std must not be given: {family.NAME} rewards vary as their family says, got "
            f"{noise_std!r}"
        )
    return FamilyRows(family, log.columns.reward, limits)


def _offers(survey: Survey, context: Sequence[str] | None) -> LogOffers | None:
    """What simulated decisions offer; None if armed, where it is all arms."""
    if survey.has_arms and context is not None:
        raise ValueError(
            f"context must come with features alone, got {context!r:.80} with arms, whose features "
            "are the context"
        )
    if survey.is_armed:
        return None
    assert survey.features is not None
    assert survey.feature_tasks is not None
    blocks = Blocks(len(survey.arms), "arm first") if survey.has_arms else None
    return LogOffers.of(survey.features, survey.feature_tasks, survey.coordinates, context, blocks)


def _check_noise(sums: TaskSums) -> None:
    """Raise an error if rewards of a task's arm do not vary, or so little that nobody sees it."""
    own, rows = OwnFits.of(sums), float(sums.n.sum())
    freedom, size = rows - float(own.rank.sum()), float(sums.yy.sum()) / rows
    if (
        freedom >= LEAST_REPEATS
        and (left := float(own.square.sum()) / freedom) < LEAST_NOISE**2 * size
    ):
        raise ValueError(
            f"reward must vary within the tasks by at least {LEAST_NOISE:g} of its size, got a "
            f"standard deviation of {left**0.5:.2g} about each task's own fit beside "
            f"{size**0.5:.3g}: sums of squares lose less to rounding, so give noise_std"
        )


def _check_enough(survey: Survey, gathered: GroupSums, split: Split) -> None:
    """Raise an error if the log cannot teach anything, or cannot be split."""
    if survey.num_tasks < 2:
        raise ValueError(f"task must have at least two values in the log, got {survey.num_tasks}")
    if survey.reward_scale.num_values < 2:
        mean = survey.reward_scale.mean
        raise ValueError(
            f"reward must differ between rows, got {mean:g} in all of them: such a log tells no "
            "widths (an agent may learn its rows: agent.learn)"
        )
    kept, out = (int(gathered.of([group]).n.sum()) for group in (0, 1))
    if kept == 0 or (out == 0 and split.share > 0):
        raise ValueError(
            f"held_out must leave rows on both sides, got {split.share:g}, which holds out "
            f"{out} of {kept + out} rows; 0 checks nothing"
        )
    if survey.has_arms and len(survey.arms) < 2:
        arms = list(survey.arms)
        raise ValueError(f"arm must have at least two values in the log, got {arms!r}")
