"""A grid of widths: sums over it by the trapezoid rule in log width, finer where the mass is."""

import numpy as np
from scipy.special import logsumexp

from hierbandits.types import Matrix, Vector

LARGEST_SHARE = 0.15  # of the mass at one point; then points are well within a standard deviation
SMALLEST_STEP = 1e-4  # in log width


def log_weights(widths: Vector) -> Vector:
    """The log of each point's weight under a log-uniform prior from the first to the last."""
    steps = np.diff(np.log(widths))
    weights = (np.append(steps, 0.0) + np.append(0.0, steps)) / 2
    logs: Vector = np.log(weights / weights.sum())
    return logs


def masses(log: Matrix) -> Matrix:
    """exp(log), scaled to sum to one."""
    shares: Matrix = np.exp(log - logsumexp(log))
    return shares


def finer(widths: Vector, *masses: Vector) -> Vector:
    """The grid with new points halfway, in log width, to those that hold too much of any mass."""
    logs = np.log(widths)
    halved = np.zeros(widths.size - 1, bool)
    for mass in masses:
        if mass.max() > LARGEST_SHARE:
            heavy = mass > LARGEST_SHARE / 10
            halved |= heavy[:-1] | heavy[1:]
    halved &= np.diff(logs) > SMALLEST_STEP
    middles = np.exp((logs[:-1] + logs[1:]) / 2)[halved]
    return np.sort(np.append(widths, middles))
