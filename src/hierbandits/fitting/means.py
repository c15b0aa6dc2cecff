"""How sure a fit is of what tasks have in common."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from hierbandits.fitting.objective import Objective
from hierbandits.fitting.units import Units
from hierbandits.types import Matrix, Vector

_STEP = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """mu of each population that has data, in rising order, with 95 % intervals.

    Given the widths mu is normal.  Few tasks leave the widths unsure, and with them the variance V
    of mu: the interval is that of Student's t with 2 / Var(log V) degrees of freedom, where that
    variance follows from the errors of the widths (Satterthwaite).  There are two at least, as
    three tasks have; with two tasks one.
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
        freedom = np.maximum(2 / np.maximum(errors, 1e-6), least)
        mean = units.centre + units.parameter * expected.hyper_means
        std = units.parameter * np.sqrt(variances)
        reach = stdtrit(freedom, (1 + 0.95) / 2) * std
        return cls(mean, std, freedom, mean - reach, mean + reach)


def _variances(covs: Matrix) -> Matrix:
    return covs if covs.ndim == 2 else np.diagonal(covs, axis1=1, axis2=2)
