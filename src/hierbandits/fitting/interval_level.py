"""How sure intervals are meant to be, by how many tasks they rest on."""

import numpy as np
from scipy.special import chdtr, chdtri, lambertw

from hierbandits.fitting.objective import Objective
from hierbandits.types import Vector

LARGEST_LOSS = float(chdtri(1, 0.05)) / 2
"""What log evidence a 95 % interval may lose: 1.92."""


def miss_rates(freedom: Vector) -> Vector:
    """The share of intervals that may miss the truth: 5 %, and 10 % x 2^-freedom more.

    Three tasks say so little of a width that an interval of 95 % is twice as long as the estimates
    vary.  With 2 degrees of freedom it is 7.5 %, with 9 or more 5 %.  With none there is nothing
    to gain, and it is 5 %.
    """
    rates: Vector = 0.05 + np.where(freedom > 0, 0.1 * 2.0 ** -np.asarray(freedom, float), 0.0)
    return rates


def allowed_loss(freedom: float) -> float:
    """What log evidence an interval may lose, by the chi-squared distribution of twice the loss."""
    return float(chdtri(1, miss_rates(np.array(freedom)))) / 2


def held_without_noise(freedom: float) -> float:
    """How often intervals of widths hold the truth if rewards have no noise.

    A mean square x of `freedom` degrees about a variance of 1 loses freedom / 2 (x - 1 - log x).
    """
    top = -np.exp(-1.0 - 2.0 * allowed_loss(freedom) / freedom)
    low, high = (-lambertw(top, branch).real for branch in (0, -1))
    return float(chdtr(freedom, freedom * high) - chdtr(freedom, freedom * low))


def task_freedom(objective: Objective) -> Vector:
    """The degrees of freedom of each coordinate's task width, (d,).

    In each population the tasks that have data there, less one for their mean.
    """
    tasks = _seen(objective)
    freedom: Vector = (tasks - (tasks > 0)).sum(0)
    return freedom


def hyper_freedom(objective: Objective) -> Vector:
    """The degrees of freedom of each coordinate's hyper-width: populations less one, (d,)."""
    freedom: Vector = np.maximum((_seen(objective) > 0).sum(0) - 1.0, 0.0)
    return freedom


def _seen(objective: Objective) -> Vector:
    """How many tasks of each population have data of each coordinate, (P, d)."""
    xx = objective.sums.xx
    has_data = (xx if xx.ndim == 2 else np.diagonal(xx, axis1=1, axis2=2)) > 0
    seen = np.zeros((objective.num_populations, has_data.shape[1]))
    np.add.at(seen, objective.population, has_data)
    return seen
