"""A whole log at once: the sums of tasks folded into their nodes, level by level."""

import numpy as np

from hierbandits.algebra import condition, settle, summed, times, transposed
from hierbandits.beliefs.common_tasks import CommonTasks
from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.nodes import Nodes
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Indices, Matrix, Vector


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
    if sums.is_armed and not nodes.is_diagonal and not in_common:
        sums = sums.with_unit_vectors()
    here = tasks
    noise_var = levels.noise_var[forest.level[here]]
    information: Matrix = sums.xx / noise_var.reshape(-1, *[1] * (sums.xx.ndim - 1))  # C
    weighted: Matrix = sums.xy / noise_var[:, None]  # b
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
            fold_level = _fold_diagonals if nodes.is_diagonal else _fold_matrices
            heard, less, log_det = fold_level(nodes, here, information, weighted)
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


def _fold_diagonals(
    nodes: Nodes, here: Indices, information: Matrix, weighted: Matrix
) -> tuple[tuple[Matrix, Matrix], Vector, Vector]:
    """Condition nodes; returns what their parents hear, the squares explained, and log dets."""
    own, up = np.swapaxes(nodes.levels.maps[nodes.forest.level[here]], 0, 1)
    start = nodes.levels.start[nodes.forest.level[here]]
    along = own * weighted
    after, root, log_det = condition(np.zeros_like(along), start, own**2 * information, along)
    nodes.put(here, after, root)
    _, _, gain = nodes.given_parents(here)
    return (gain * information, up * after), (along * after).sum(-1), log_det


def _fold_matrices(
    nodes: Nodes, here: Indices, information: Matrix, weighted: Matrix
) -> tuple[tuple[Matrix, Matrix], Vector, Vector]:
    """The same for matrices, in coordinates in which a node starts as N(0, I)."""
    maps = nodes.levels.maps[nodes.forest.level[here]]
    start = nodes.levels.start[nodes.forest.level[here]]
    whole = maps[:, 0] @ start
    inner, along = transposed(whole) @ information @ whole, times(transposed(whole), weighted)
    told = settle((inner + transposed(inner)) / 2, along)
    nodes.put(here, times(start, told.mean), start @ told.root)
    up = transposed(maps[:, 1]) @ start
    heard = up @ told.message @ transposed(up), times(up, told.mean)
    return heard, (along * told.mean).sum(-1), told.log_det
