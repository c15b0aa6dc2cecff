"""From a log to a prior and a report on it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.checks import count
from hierbandits.learning.calibration import Calibration, check
from hierbandits.learning.held_out import Split
from hierbandits.learning.learning_report import LearningReport
from hierbandits.learning.learning_survey import Survey
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.outliers import Outliers
from hierbandits.learning.predictor import Predictor
from hierbandits.learning.prior import fitted, starting_prior
from hierbandits.learning.savings import Savings, newcomer
from hierbandits.learning.shrinkage import Shrinkage
from hierbandits.learning.task_similarity import Similarity
from hierbandits.logs import Columns, Log
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.reporting.progress import Progress, progress_bar
from hierbandits.types import Name

if TYPE_CHECKING:
    from hierbandits.fitting.structure import Shape


def learn_prior(
    source: Any,
    *,
    task: str | None = None,
    reward: str | None = None,
    arm: str | None = None,
    features: str | Sequence[str] | None = None,
    population: str | None = None,
    arms: Sequence[Name] | None = None,
    structure: "Shape" = "diagonal",
    rank: int = 1,
    noise_std: float | None = None,
    held_out: float = 0.2,
    runs: int = 200,
    seed: int = 0,
    progress: Progress = None,
) -> tuple[GaussianHierarchy, LearningReport]:
    """The prior that past rewards teach, and a report on whether to trust and to share it.

    `source` is a polars, pandas or Arrow table, a .parquet or .csv file of any size whose columns
    `task`, `reward` and either `arm` or `features` (one column of lists, or several columns) are
    named, or an `hb.Log`, which names them itself.  It is read twice and never held as a whole.

    The prior is for tasks that the agent has not met: with one population, mu has its posterior
    given the whole log; with several, it is as if drawn anew from the learned hyper-prior.
    `structure`, `rank` and `noise_std` are those of `fit_prior`.  `held_out` is the share of rows
    on which predictions are checked, and `runs` the number of worlds simulated for the regret
    saved; 0 leaves either out.
    """
    log = _opened(source, task, reward, arm, features, population, arms)
    split, runs = Split(held_out, seed), count("runs", runs)
    with progress_bar("Reading the log", None, progress):
        survey = Survey.of(log, split)
    groups, names = survey.population, (survey.tasks, survey.coordinates)
    sums = survey.sums
    with progress_bar("Fitting the widths", None, progress):
        fit = fitted(sums, groups, structure, rank, noise_std)
        posterior = TaskPosteriors.of(Belief.from_sums(fit.prior, sums, population=groups))
        comparison = Comparison.of(sums, groups, noise_std)
    calibration = _checked(log, split, survey, structure, rank, noise_std, progress)
    savings = None
    if runs:
        worlds = newcomer(fit, comparison, len(survey.populations) > 1)
        savings = Savings.of(
            worlds, sums.n, groups, survey.sample, runs=runs, seed=seed, progress=progress
        )
    settings = {"structure": structure, "rank": rank, "noise_std": noise_std}
    report = LearningReport(
        prior=starting_prior(fit.prior, posterior),
        before_log=fit.prior,
        num_rows=int(sums.n.sum()),
        num_tasks=len(survey.tasks),
        arms=survey.coordinates if survey.is_armed else None,
        similarity=Similarity.of(fit, posterior, sums, survey.coordinates, survey.populations),
        comparison=comparison,
        shrinkage=Shrinkage.of(posterior, sums.n, *names),
        outliers=Outliers.of(fit.prior, sums, posterior, *names),
        calibration=calibration,
        savings=savings,
        settings=settings | {"held_out": held_out, "runs": runs, "seed": seed},
    )
    return report.prior, report


def _opened(
    source: Any,
    task: str | None,
    reward: str | None,
    arm: str | None,
    features: str | Sequence[str] | None,
    population: str | None,
    arms: Sequence[Name] | None,
) -> Log:
    if isinstance(source, Log):
        given: dict[str, Any] = {"task": task, "reward": reward, "arm": arm, "features": features}
        given |= {"population": population, "arms": arms}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name} must not be given with a Log, got {value!r:.80}")
        return source
    if task is None or reward is None:
        raise ValueError(f"task and reward must name columns, got {task!r} and {reward!r}")
    columns = Columns(task=task, reward=reward, arm=arm, features=features, population=population)
    return Log.read(source, columns, arms=arms)


def _checked(
    log: Log,
    split: Split,
    survey: Survey,
    structure: "Shape",
    rank: int,
    noise_std: float | None,
    progress: Progress,
) -> Calibration | None:
    """The second pass: fits to the training rows, judged by the held-out ones."""
    if split.share == 0:
        return None
    sums, groups = survey.training, survey.population
    with progress_bar("Fitting the training rows", None, progress):
        fit = fitted(sums, groups, structure, rank, noise_std)
        comparison = Comparison.of(sums, groups, noise_std)
        predictors = {
            "hierarchical": Predictor.hierarchical(fit.prior, sums, groups),
            "pooled": Predictor.pooled(comparison, sums, groups),
            "independent": Predictor.independent(comparison, sums, groups),
        }
    rows = int(survey.training.n.sum() + survey.held.n.sum())
    with progress_bar("Checking held-out rows", rows, progress) as steps:
        return check(log, split, survey, predictors, steps.advance)
