"""A whole log at once: the sums of tasks folded into a forest, level by level."""

import numpy as np

from hierbandits.arrays import Indices, Matrix, Vector, state_array
from hierbandits.contribution import combine, times
from hierbandits.evidence import Evidence
from hierbandits.forest import Forest
from hierbandits.sums import TaskSums


def fold(forest: Forest, sums: TaskSums) -> Evidence:
    """Fill a freshly planted forest of one hierarchy with the posterior; returns the evidence.

    Each level hears from below, up to a constant, the log density
    -1/2 (theta' C theta - 2 b' theta + square + log_var) of the data given its own parameters,
    conditions itself on it, and passes the same on with its own parameters integrated out.
    """
    prior = forest.hierarchies[0]
    nodes: Indices = np.flatnonzero(forest.level[: forest.size] == prior.num_levels - 1)
    if sums.is_armed != prior.is_armed or sums.xy.shape != (nodes.size, prior.dim):
        raise ValueError(
            f"sums must hold {nodes.size} tasks in the form of {prior}, got {sums.xx.shape}"
        )
    if nodes.size == 0:
        return Evidence.none(forest.num_populations)
    for name in ("xx", "xy", "yy", "n"):
        values = getattr(sums, name)
        state_array(f"sums.{name}", values, values.shape)
    noise_var = prior.noise_std**2
    precision, weighted = sums.xx / noise_var, sums.xy / noise_var
    square, log_var = sums.yy / noise_var, sums.n * np.log(noise_var)
    count = sums.n
    while True:
        mean = forest.mean[nodes]  # zero but for the roots
        factor = forest.prior_factor[forest.level[nodes]]
        after, root, log_det = combine(mean, factor, precision, weighted)
        forest.mean[nodes], forest.factor[nodes] = after, root
        pull = weighted - times(precision, mean)
        square = square - (mean * (weighted + pull)).sum(-1) - (pull * (after - mean)).sum(-1)
        log_var = log_var + log_det
        if forest.parent[nodes[0]] < 0:
            return Evidence(count.copy(), log_var, square)
        looking_up = forest.precision[forest.level[nodes]]
        heard = (explained(looking_up, root, precision), times(looking_up, after))
        nodes, family = np.unique(forest.parent[nodes], return_inverse=True)
        precision, weighted, square, log_var, count = (
            _summed(part, family, nodes.size) for part in (*heard, square, log_var, count)
        )


def explained(looking_up: Matrix, factor: Matrix, precision: Matrix) -> Matrix:
    """C = Sigma^-1 P G, made symmetric: what a node's data say of its parent."""
    if factor.ndim == 2:
        return looking_up * factor**2 * precision
    product = looking_up @ factor @ np.swapaxes(factor, -1, -2) @ precision
    return (product + np.swapaxes(product, -1, -2)) / 2


def _summed(part: Vector, family: Indices, num_families: int) -> Vector:
    total = np.zeros((num_families, *part.shape[1:]))
    np.add.at(total, family, part)
    return total
