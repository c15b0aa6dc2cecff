"""Upper confidence bounds: play the arm that could be best."""

from math import log, sqrt

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import probability
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices

HIER_UCB_DELTA = 0.05
"""How often an upper bound of HierUCB may fail; `ucb_width` makes it a width."""

LIN_UCB_WIDTH = 1.0
"""alpha, the width of LinUCB in standard deviations."""


def ucb(
    belief: Posterior, rng: Generator, nodes: Indices, arms: Arms, /, *, width: float
) -> Indices:
    """Play the arm of highest mean plus `width` posterior standard deviations.

    With width = ucb_width(delta) this is HierBayesUCB (Guan and Xiong, 2024).
    """
    each = np.repeat(nodes, arms.sizes)  # the node of every arm
    prediction = belief.predict_rows(each, arms.table, arms.flat_rows())
    return arms.best(prediction.bound(width), rng)


def ucb_width(delta: float) -> float:
    """The width whose one-sided Gaussian tail is at most delta: sqrt(2 log(1 / delta))."""
    delta = probability("delta", delta)
    return sqrt(2 * log(1 / delta))
