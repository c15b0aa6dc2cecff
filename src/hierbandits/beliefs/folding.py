"""A whole log at once: the sums of tasks folded into a forest, level by level."""

import numpy as np

from hierbandits.algebra import condition, explained, summed, times
from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.forest import Forest
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Indices, Matrix, Vector


def fold(forest: Forest, nodes: Indices, sums: TaskSums) -> tuple[Indices, Evidence]:
    """Let tasks that know nothing yet, and all above them, learn sums, a row for each.

    Returns their roots and the evidence.  Each level hears from below, up to a constant, the log
    density -1/2 (theta' C theta - 2 b' theta + square + log_var) of the data given its own
    parameters, conditions itself on it, and passes the same on with its own parameters
    integrated out.
    """
    noise_var = forest.noise_var[forest.level[nodes]]
    precision: Matrix = sums.xx / noise_var.reshape(-1, *[1] * (sums.xx.ndim - 1))
    weighted: Matrix = sums.xy / noise_var[:, None]
    square: Vector = sums.yy / noise_var
    size, count = square, sums.n
    log_var: Vector = count * np.log(noise_var)
    while True:
        mean = forest.mean[nodes]  # zero but for the roots
        factor = forest.prior_factor[forest.level[nodes]]
        after, root, log_det = condition(mean, factor, precision, weighted)
        forest.mean[nodes], forest.factor[nodes] = after, root
        pull = weighted - times(precision, mean)
        square = square - (mean * (weighted + pull)).sum(-1) - (pull * (after - mean)).sum(-1)
        log_var = log_var + log_det
        if forest.parent[nodes[0]] < 0:
            # What is left of the rewards' squares is known to rounding relative to them.
            least = np.finfo(float).eps * size
            return nodes, Evidence(count.copy(), log_var, np.maximum(square, least))
        looking_up = forest.precision[forest.level[nodes]]
        heard = (explained(looking_up, root, precision), times(looking_up, after))
        nodes, family = np.unique(forest.parent[nodes], return_inverse=True)
        precision, weighted, square, size, log_var, count = (
            summed(part, family, nodes.size) for part in (*heard, square, size, log_var, count)
        )
