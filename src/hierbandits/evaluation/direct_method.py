"""The direct method: a policy's value under the reward model alone."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import normal_quantile, summed
from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.evaluation.estimators import REWARD, Estimates
from hierbandits.evaluation.moments import Moments
from hierbandits.logs import Survey
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.types import Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class DirectMethod:
    """What the reward model expects of policies over the judged rows, and how sure it is.

    A policy's probabilities are summed over each group's rows, `chosen`, (tasks, K).  Errors are
    the model's posterior ones, and include that tasks share mu.  They do not cover what is wrong
    with the model.  Folds share most of their training rows, so their errors are added up as if
    they were one.
    """

    survey: Survey
    models: Mapping[int, ArmPosteriors[Belief]]
    plays: Matrix  # how often the log plays each task's arms, (tasks, K)

    def values(
        self, chosen: Mapping[int, Matrix], moments: Moments, confidence: float
    ) -> tuple[Estimates, Estimates]:
        """The mean of sum_a pi(a) E[r(a)] over the judged rows: overall, and in each task."""
        n = moments.n
        overall, each = self._sums(chosen, n.sum())
        with np.errstate(invalid="ignore", divide="ignore"):
            each = each / n
        return (
            _beside_logged(overall[:1], overall[1:], moments.pooled(), confidence),
            _beside_logged(each[0], each[1], moments, confidence),
        )

    def difference(
        self, chosen: Mapping[int, Matrix], other: Mapping[int, Matrix]
    ) -> tuple[float, float]:
        """The value of one policy less another's over the same rows, and its error."""
        rows = sum(float(weights.sum()) for weights in chosen.values())
        overall, _ = self._sums(_less(chosen, other), rows)
        return float(overall[0]), float(overall[1])

    def untried_errors(
        self, chosen: Mapping[int, Matrix], other: Mapping[int, Matrix] | None, n: Vector
    ) -> tuple[float, Vector]:
        """The errors of the model about choices that the log never made in their task.

        No weight can correct the model there, so that doubly robust estimates have these errors
        too: overall, and in each task.  `other` is a policy that is compared with.
        """
        weights = chosen if other is None else _less(chosen, other)
        width = next(iter(weights.values())).shape[1] // self.plays.shape[1]
        never = np.repeat(self.plays == 0, width, axis=1)
        untried = {group: np.where(never, part, 0.0) for group, part in weights.items()}
        if not any(part.any() for part in untried.values()):
            return 0.0, np.zeros(n.size)
        overall, each = self._sums(untried, n.sum())
        return float(overall[1]), each[1] / np.maximum(n, 1.0)

    def _sums(self, chosen: Mapping[int, Matrix], rows: float) -> tuple[Vector, Matrix]:
        """Mean value and error over so many rows, (2,), and sums of both by task, (2, tasks)."""
        overall, by_task = np.zeros(2), np.zeros((2, self.survey.num_tasks))
        for group, model in self.models.items():
            weights = chosen[group] / rows
            error = np.sqrt(_variance(self.survey, model, weights))
            overall += (weights * model.means).sum(), error
            by_task[0] += (chosen[group] * model.means).sum(axis=1)
            by_task[1] += np.sqrt(_task_variances(model, chosen[group]))
        return overall, by_task


def _less(chosen: Mapping[int, Matrix], other: Mapping[int, Matrix]) -> dict[int, Matrix]:
    """How much more often one policy makes each choice than another."""
    return {group: weights - other[group] for group, weights in chosen.items()}


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
