"""The direct method: a policy's value under the reward model alone."""

from collections.abc import Mapping

import numpy as np

from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.evaluation.estimators import Estimates, normal
from hierbandits.evaluation.moments import Moments
from hierbandits.evaluation.training import Scores
from hierbandits.logs.survey import Survey
from hierbandits.types import Matrix, Vector


def direct(
    survey: Survey,
    models: Mapping[int, Scores],
    chosen: Mapping[int, Matrix],
    moments: Moments,
    level: float,
) -> tuple[Estimates, Estimates]:
    """The mean of sum_a pi(a) E[r(a)] over the evaluated rows: overall, and in each task.

    `chosen` sums the policy's probabilities over each group's rows, (tasks, K).  The error is
    the posterior's, the sharing of mu by the tasks included; it does not cover what is wrong with
    the model.  Folds share most of their training rows, so their errors are added up as if they
    were one.
    """
    n = moments.n
    total, tasks = np.zeros(2), np.zeros((2, survey.num_tasks))  # values, errors
    for group, model in models.items():
        weights = chosen[group] / n.sum()
        mean = model.mean[survey.node]
        total += (weights * mean).sum(), np.sqrt(_variance(survey, model, weights))
        tasks[0] += (chosen[group] * mean).sum(axis=1)
        tasks[1] += np.sqrt(_task_variances(survey, model, chosen[group]))
    with np.errstate(invalid="ignore", divide="ignore"):
        each = tasks / n
    pooled = moments.pooled()
    return (
        _beside_logged(total[:, None], pooled, level),
        _beside_logged(each, moments, level),
    )


def _beside_logged(found: Matrix, moments: Moments, level: float) -> Estimates:
    """The gain's error takes the model's and the logged mean's as independent."""
    value, error = found
    gain_error = np.hypot(error, moments.error(0.0, 0.0, 0.0, 1.0))
    return Estimates.of(value, error, value - moments.mean[:, 3], gain_error, normal(level))


def _variance(survey: Survey, model: Scores, weights: Matrix) -> float:
    """The posterior variance of sum over tasks and arms of weights * mean reward."""
    population = survey.node // survey.width
    if model.table is None:
        within = (weights**2 * model.within_var[survey.node]).sum()
        # shared_var is (gain * std of mu)^2, arms are independent, and tasks move with mu.
        moved = weights * np.sqrt(model.shared_var[survey.node])
        shared = np.zeros((survey.num_populations, moved.shape[1]))
        np.add.at(shared, population, moved)
        return float(within + (shared**2).sum())
    x, posteriors = weights @ model.table, TaskPosteriors.of(model.belief)
    within, gain = posteriors.within[survey.node], posteriors.gain[survey.node]
    pull = np.zeros((survey.num_populations, x.shape[1]))
    np.add.at(pull, population, np.einsum("sij,si->sj", gain, x))
    variance = float(np.einsum("si,sij,sj->", x, within, x))
    return variance + float(np.einsum("pi,pij,pj->", pull, posteriors.hyper_cov, pull))


def _task_variances(survey: Survey, model: Scores, weights: Matrix) -> Vector:
    """The posterior variance of each task's sum over arms of weights * mean reward."""
    if model.table is None:
        var = model.within_var[survey.node] + model.shared_var[survey.node]
        armed: Vector = (weights**2 * var).sum(axis=1)
        return armed
    x, covs = weights @ model.table, TaskPosteriors.of(model.belief).covs[survey.node]
    linear: Vector = np.einsum("si,sij,sj->s", x, covs, x)
    return linear
