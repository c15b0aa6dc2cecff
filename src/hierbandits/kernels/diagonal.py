"""The exact recursion with diagonal covariances: every arm is its own scalar hierarchy.

The same functions as in `dense`, with the same arguments: a feature is an arm's index, and
`factor` and `precision` hold diagonals.  An event costs O(1) per level.
"""

from math import sqrt

import numpy as np

from hierbandits.compiler import compiled
from hierbandits.types import Indices, Matrix, Vector


@compiled
def observe(
    nodes: Indices,
    features: Indices,
    rewards: Vector,
    noise_std: Vector,  # (E,), or empty: the hierarchy's own
    noise_var: Vector,
    parent: Indices,
    level: Indices,
    precision: Matrix,
    mean: Matrix,
    factor: Matrix,
    count: Vector,
    log_var: Vector,
    square: Vector,
) -> None:
    """Learn a batch of rewards, in order: each climbs from its task to the root."""
    for e in range(nodes.size):
        arm = features[e]
        node = nodes[e]
        x = 1.0
        residual = rewards[e]
        var = noise_std[e] * noise_std[e] if noise_std.size else noise_var[level[node]]
        while node >= 0:
            std = factor[node, arm]
            before = var
            var += (x * std) ** 2
            residual -= x * mean[node, arm]
            cov_x = std * std * x
            mean[node, arm] += cov_x * (residual / var)
            factor[node, arm] = std * sqrt(before / var)
            x = precision[level[node], arm] * cov_x
            node = parent[node]
        population = ~node
        count[population] += 1.0
        log_var[population] += np.log(var)
        square[population] += residual * residual / var


@compiled
def shift(
    node: int,
    arm: int,
    amount: float,  # change of the reward over the noise variance
    parent: Indices,
    level: Indices,
    precision: Matrix,
    mean: Matrix,
    factor: Matrix,
) -> None:
    """Move the means by what a changed reward implies."""
    message = amount
    while node >= 0:
        step = factor[node, arm] ** 2 * message
        mean[node, arm] += step
        message = precision[level[node], arm] * step
        node = parent[node]


@compiled
def draw(
    slot_node: Indices,
    slot_parent: Indices,  # the slot of the node's parent, an earlier one; -1 for a root
    normals: Matrix,  # (slots, K)
    parent: Indices,
    level: Indices,
    precision: Matrix,
    mean: Matrix,
    factor: Matrix,
    out: Matrix,  # (slots, K)
) -> None:
    """Draw every slot's parameter given its parent's; with zeros for normals, the means."""
    num_slots, num_arms = normals.shape
    for s in range(num_slots):
        node = slot_node[s]
        row = level[node]
        p = slot_parent[s]
        for i in range(num_arms):
            std = factor[node, i]
            theta = mean[node, i] + std * normals[s, i]
            if p >= 0:
                theta += std * std * precision[row, i] * out[p, i]
            out[s, i] = theta


@compiled
def predict(
    nodes: Indices,
    table: Indices,
    rows: Indices,
    parent: Indices,
    level: Indices,
    precision: Matrix,
    mean: Matrix,
    factor: Matrix,
    out_mean: Vector,
    out_within: Vector,
    out_shared: Vector,
) -> None:
    """Mean and variance of an arm's mean reward, the variance split into own and ancestors'."""
    for e in range(nodes.size):
        arm = table[rows[e]]
        node = nodes[e]
        x = 1.0
        centre = 0.0
        within = 0.0
        shared = 0.0
        while node >= 0:
            var = factor[node, arm] ** 2
            centre += x * mean[node, arm]
            if node == nodes[e]:
                within = var
            else:
                shared += x * x * var
            x *= var * precision[level[node], arm]
            node = parent[node]
        out_mean[e] = centre
        out_within[e] = within
        out_shared[e] = shared


@compiled
def accumulate(
    tasks: Indices,
    features: Indices,
    rewards: Vector,
    xx: Matrix,
    xy: Matrix,
    yy: Vector,
    n: Vector,
) -> None:
    """Add a batch of events to their tasks' sums."""
    for e in range(tasks.size):
        task = tasks[e]
        xx[task, features[e]] += 1.0
        xy[task, features[e]] += rewards[e]
        yy[task] += rewards[e] * rewards[e]
        n[task] += 1.0
