"""Sums over widths: the trapezoid rule in log width, on a grid that is finer where it matters."""

import numpy as np
from scipy.special import logsumexp

from hierbandits.types import Matrix, Vector

LARGEST_SHARE = 0.15  # of the weight at one point: well below one standard deviation apart
SMALLEST_STEP = 1e-4  # in log width


def log_weights(widths: Vector) -> Vector:
    """The log of each point's weight under a log-uniform prior from the first to the last."""
    steps = np.diff(np.log(widths))
    weights = (np.append(steps, 0.0) + np.append(0.0, steps)) / 2
    logs: Vector = np.log(weights / weights.sum())
    return logs


def shares(log: Matrix) -> Matrix:
    """The share of each entry of the sum of exp(log)."""
    weights: Matrix = np.exp(log - logsumexp(log))
    return weights


def finer(widths: Vector, *masses: Vector) -> Vector:
    """The grid with points halved in beside those that hold too much of any of the masses."""
    logs = np.log(widths)
    split = np.zeros(widths.size - 1, bool)
    for mass in masses:
        if mass.max() > LARGEST_SHARE:
            heavy = mass > LARGEST_SHARE / 10
            split |= heavy[:-1] | heavy[1:]
    split &= np.diff(logs) > SMALLEST_STEP
    middles = np.exp((logs[:-1] + logs[1:]) / 2)[split]
    return np.sort(np.append(widths, middles))
