"""The direct method: a policy's value under the reward model alone."""

from collections.abc import Mapping

import numpy as np

from hierbandits.algebra import normal_quantile, summed
from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.evaluation.estimators import REWARD, Estimates
from hierbandits.evaluation.moments import Moments
from hierbandits.logs import Survey
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.types import Matrix, Vector


def direct(
    survey: Survey,
    models: Mapping[int, ArmPosteriors[Belief]],
    chosen: Mapping[int, Matrix],
    moments: Moments,
    confidence: float,
) -> tuple[Estimates, Estimates]:
    """The mean of sum_a pi(a) E[r(a)] over the judged rows: overall, and in each task.

    `chosen` sums the policy's probabilities over each group's rows, (tasks, K).  The error is the
    model's posterior one, and includes that tasks share mu.  It does not cover what is wrong with
    the model.  Folds share most of their training rows, so their errors are added up as if they
    were one.
    """
    n = moments.n
    overall, by_task = np.zeros(2), np.zeros((2, survey.num_tasks))  # values, errors
    for group, model in models.items():
        weights = chosen[group] / n.sum()
        overall += (weights * model.means).sum(), np.sqrt(_variance(survey, model, weights))
        by_task[0] += (chosen[group] * model.means).sum(axis=1)
        by_task[1] += np.sqrt(_task_variances(model, chosen[group]))
    with np.errstate(invalid="ignore", divide="ignore"):
        by_task = by_task / n
    return (
        _beside_logged(overall[:1], overall[1:], moments.pooled(), confidence),
        _beside_logged(by_task[0], by_task[1], moments, confidence),
    )


def direct_difference(
    survey: Survey,
    models: Mapping[int, ArmPosteriors[Belief]],
    chosen: Mapping[int, Matrix],
    other: Mapping[int, Matrix],
) -> tuple[float, float]:
    """The value of one policy less another's over the same rows, and its error, by the model."""
    rows = sum(float(weights.sum()) for weights in chosen.values())
    value = error = 0.0
    for group, model in models.items():
        weights = (chosen[group] - other[group]) / rows
        value += float((weights * model.means).sum())
        error += float(np.sqrt(_variance(survey, model, weights)))
    return value, error


def _beside_logged(value: Vector, error: Vector, moments: Moments, confidence: float) -> Estimates:
    """Estimates whose improvement takes the model's error and the logged mean's as independent."""
    improvement = value - moments.mean[:, REWARD]
    improvement_error = np.hypot(error, moments.error(0.0, 0.0, 0.0, 1.0))
    return Estimates.of(value, error, improvement, improvement_error, normal_quantile(confidence))


def _variance(survey: Survey, model: ArmPosteriors[Belief], weights: Matrix) -> float:
    """The posterior variance of the sum over tasks and arms of weights * mean reward."""
    population, num = survey.population, survey.num_populations
    weights = _linear(model, weights)
    if model.table is None and model.belief.is_diagonal:
        within = (weights**2 * model.prediction.within_var).sum()
        # shared_var is (gain * std of mu)^2.  Arms are independent, and tasks move with mu.
        moved = weights * np.sqrt(model.prediction.shared_var)
        return float(within + (summed(moved, population, num) ** 2).sum())
    x, posteriors = _along(model, weights), TaskPosteriors.of(model.belief)
    along_mu = summed(np.einsum("sij,si->sj", posteriors.gain, x), population, num)
    variance = float(np.einsum("si,sij,sj->", x, posteriors.within, x))
    return variance + float(np.einsum("pi,pij,pj->", along_mu, posteriors.hyper_cov, along_mu))


def _task_variances(model: ArmPosteriors[Belief], weights: Matrix) -> Vector:
    """The posterior variance of each task's sum over arms of weights * mean reward, (tasks,)."""
    weights = _linear(model, weights)
    if model.table is None and model.belief.is_diagonal:
        var = model.prediction.within_var + model.prediction.shared_var
        armed: Vector = (weights**2 * var).sum(axis=1)
        return armed
    x, covs = _along(model, weights), TaskPosteriors.of(model.belief).covs
    linear: Vector = np.einsum("si,sij,sj->s", x, covs, x)
    return linear


def _linear(model: ArmPosteriors[Belief], weights: Matrix) -> Matrix:
    """Weights of linear predictors, where those of mean rewards are these."""
    return weights if model.belief.IS_GAUSSIAN else weights * model.slopes


def _along(model: ArmPosteriors[Belief], weights: Matrix) -> Matrix:
    """x with x @ theta = the sum over arms of weights * mean reward, in each task, (tasks, d)."""
    return weights if model.table is None else weights @ model.table
