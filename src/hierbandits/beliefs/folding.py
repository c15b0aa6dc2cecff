"""A whole log at once: the sums of tasks folded into their nodes, level by level."""

import numpy as np

from hierbandits.algebra import condition, explained, gain_of, squared, summed, times
from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.nodes import Nodes
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Indices, Matrix, Vector


def fold(nodes: Nodes, tasks: Indices, sums: TaskSums) -> tuple[Indices, Evidence]:
    """Let tasks that know nothing yet, and all nodes above them, learn sums, a row for each task.

    Returns their roots and the evidence.  A node hears from below, up to a constant, the log
    density -1/2 (theta' C theta - 2 b' theta + square + log_var) of the data given its own
    parameter theta.  It conditions itself on that, integrates theta out, and passes the result on
    to its parent in the same form.
    """
    forest, levels = nodes.forest, nodes.levels
    here = tasks
    noise_var = levels.noise_var[forest.level[here]]
    information: Matrix = sums.xx / noise_var.reshape(-1, *[1] * (sums.xx.ndim - 1))  # C
    weighted: Matrix = sums.xy / noise_var[:, None]  # b
    square: Vector = sums.yy / noise_var
    size, count = square, sums.n
    log_var: Vector = count * np.log(noise_var)
    while True:
        mean = nodes.mean[here]  # zero, except at the roots
        factor = levels.prior_factor[forest.level[here]]
        after, root, log_det = condition(mean, factor, information, weighted)
        nodes.mean[here], nodes.factor[here] = after, root
        residual = weighted - times(information, mean)
        square = square - (mean * (weighted + residual)).sum(-1)
        square = square - (residual * (after - mean)).sum(-1)
        log_var = log_var + log_det
        if forest.parent[here[0]] < 0:
            # Rounding is relative to the rewards' own squares, so no less than that is known.
            least = np.finfo(float).eps * size
            return here, Evidence(count.copy(), log_var, np.maximum(square, least))
        precision = levels.precision[forest.level[here]]
        cov = squared(root, armed=nodes.is_armed)
        gain = gain_of(cov, precision, armed=nodes.is_armed)
        heard = (explained(gain, information), times(precision, after))
        here, child_of = np.unique(forest.parent[here], return_inverse=True)
        information, weighted, square, size, log_var, count = (
            summed(part, child_of, here.size) for part in (*heard, square, size, log_var, count)
        )
