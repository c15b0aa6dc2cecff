"""A whole log at once: the sums of tasks folded into their nodes, level by level."""

import numpy as np

from hierbandits.algebra import condition, summed, times
from hierbandits.beliefs.common_tasks import CommonTasks
from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.node_data import NodeData, information_of
from hierbandits.beliefs.nodes import Nodes
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Indices, Vector


def fold(nodes: Nodes, tasks: Indices, sums: TaskSums) -> tuple[Indices, Evidence]:
    """Let tasks that know nothing yet, and all nodes above them, learn sums, a row for each task.

    Nodes between tasks and roots must know nothing either; roots may have learned from other tasks.
    Returns their populations and the evidence.  A node hears from below, up to a constant, the log
    density -1/2 (theta' C theta - 2 b' theta + square + log_var) of the data given its own
    parameter theta.  It conditions itself on that, integrates theta out, and passes the result on
    to its parent in the same form.
    """
    forest, levels = nodes.forest, nodes.levels
    if not tasks.size:
        return tasks, Evidence.none(0)
    in_common = levels.form.has_common_part
    here = tasks
    noise_var = levels.noise_var[forest.level[here]]
    information, weighted = information_of(levels, forest.level[here], sums)  # C and b
    square: Vector = sums.yy / noise_var
    size, count = square, sums.n
    log_var: Vector = count * np.log(noise_var)
    while forest.parent[here[0]] >= 0:
        maps = levels.maps[forest.level[here]]
        above, child_of = np.unique(forest.parent[here], return_inverse=True)
        if in_common:
            tasks_now = CommonTasks.after(maps[:, 0], information, weighted)
            nodes.state[here] = tasks_now.blocks()
            less, log_det = tasks_now.explained(weighted), tasks_now.log_det
            information, weighted = tasks_now.contributions(child_of, above.size)
        else:
            data = NodeData.of(levels, forest.level[here], information, weighted)
            nodes.put(here, data.mean, data.root)
            less = (weighted * times(maps[:, 0], data.mean)).sum(-1)
            log_det, heard = data.log_det, (data.precision, data.weighted)
            information, weighted = (summed(part, child_of, above.size) for part in heard)
        square = square - less
        log_var = log_var + log_det
        square, size, log_var, count = (
            summed(part, child_of, above.size) for part in (square, size, log_var, count)
        )
        here = above
    populations: Indices = ~forest.parent[here]
    mean = nodes.roots[populations, -1]
    factor = nodes.roots[populations, 0 if nodes.is_diagonal else slice(-1)]
    after, root, log_det = condition(mean, factor, information, weighted)
    nodes.put_roots(populations, after, root)
    residual = weighted - times(information, mean)
    square = square - (mean * (weighted + residual)).sum(-1) - (residual * (after - mean)).sum(-1)
    # Rounding is relative to the rewards' own squares, so no less than that is known.
    square = np.maximum(square, np.finfo(float).eps * size)
    return populations, Evidence(np.stack([count, log_var + log_det, square]))
