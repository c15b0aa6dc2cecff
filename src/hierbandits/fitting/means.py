"""How sure a fit is of what tasks have in common."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from hierbandits.fitting.expectation import Expectation
from hierbandits.fitting.interval_level import miss_rates, task_freedom
from hierbandits.fitting.objective import Objective
from hierbandits.fitting.units import Units
from hierbandits.types import Matrix, Vector

_STEP = 1e-4
_EQUAL = 1e-4  # of the tasks' widths: they hardly differ


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """mu of each population that has data, in rising order, with intervals.

    They are of 95 %; with fewer than ten tasks of somewhat less, see `miss_rates`.

    Given the widths mu is normal.  Few tasks leave the widths unsure, and with them the variance V
    of mu: the interval is that of Student's t with 2 / Var(log V) degrees of freedom, where that
    variance follows from the errors of the widths (Satterthwaite).  There are two at least, as
    three tasks have, and with two tasks one; there are at most those of the tasks.

    Weak priors make small widths of few tasks too wide, and V too large, so that tasks differ less
    from mu than the widths say.  With one population, V is therefore the one by these differences
    (Hartung and Knapp), and no less than if tasks did not differ at all.
    """

    mean: Matrix  # (P, d)
    std: Matrix  # given the widths that fit best
    freedom: Matrix
    low: Matrix
    high: Matrix

    @classmethod
    def of(cls, objective: Objective, units: Units, free: Vector, covariance: Matrix) -> "Means":
        """The means at the top of the objective, where `covariance` is that of its coordinates."""
        expected = objective.expectation(objective.hierarchy(free))
        variances = _variances(expected.hyper_covs)
        slopes = []  # of log V, by each coordinate
        for i in range(free.size):
            move = np.zeros(free.size)
            move[i] = _STEP
            moved = objective.expectation(objective.hierarchy(free + move)).hyper_covs
            change = (_variances(moved) - variances) / _STEP
            slopes.append(change / np.where(variances > 0, variances, 1.0))
        errors = np.einsum("ipd,ij,jpd->pd", slopes, covariance, slopes)
        tasks = np.bincount(objective.population, minlength=len(errors))
        least = np.clip(tasks - 1, 1, 2)[:, None]
        of_tasks = task_freedom(objective)
        freedom = np.clip(2 / np.maximum(errors, 1e-6), least, np.maximum(of_tasks, least))
        mean = units.centre + units.parameter * expected.hyper_means
        std = units.parameter * np.sqrt(variances)
        seen = units.parameter * np.sqrt(_by_differences(objective, free, expected, of_tasks))
        reach = stdtrit(freedom, 1 - miss_rates(of_tasks) / 2) * seen
        return cls(mean, std, freedom, mean - reach, mean + reach)


def _by_differences(
    objective: Objective, free: Vector, expected: Expectation, of_tasks: Vector
) -> Matrix:
    """The variances of mu by how far tasks are from it: V + 2 V S V m / (m - 1).

    S is the slope of the log evidence by task_cov.  With task s of precision G_s about mu and at a
    distance e_s, 2 S = sum G_s e_s e_s' G_s - sum G_s + sum G_s V G_s, and V^-1 = sum G_s.
    """
    covs = expected.hyper_covs
    variances = _variances(covs)
    if objective.num_populations != 1:
        return variances
    slope = expected.task_cov_slope
    if objective.structure.kind == "scalar":
        mean = (slope if slope.ndim == 1 else np.diagonal(slope)).mean()
        slope = mean * (np.ones_like(slope) if slope.ndim == 1 else np.eye(len(slope)))
    change = covs**2 * slope if covs.ndim == 2 else _variances(covs @ slope @ covs)
    by_differences = variances + 2 * change * (of_tasks + 1) / np.maximum(of_tasks, 1)
    hierarchy = objective.hierarchy(free)
    factor = hierarchy.factor
    equal = replace(
        hierarchy,
        task_cov=_EQUAL**2 * hierarchy.task_cov,
        factor=None if factor is None else (_EQUAL**2 * factor[0], _EQUAL * factor[1]),
    )
    return np.maximum(by_differences, _variances(objective.expectation(equal).hyper_covs))


def _variances(covs: Matrix) -> Matrix:
    return covs if covs.ndim == 2 else np.diagonal(covs, axis1=1, axis2=2)
