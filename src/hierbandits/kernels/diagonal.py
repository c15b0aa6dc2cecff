"""The exact recursion with diagonal covariances: every arm is its own scalar hierarchy.

The same functions as in `dense`, with the same arguments: a feature is an arm's index, and
matrices are diagonals.  An event costs O(1) per level.
"""

from math import sqrt

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.event_evidence import count_event
from hierbandits.kernels.loops import TIED
from hierbandits.kernels.node_address import NodeAddress, diagonal_nodes
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.types import Indices, Matrix, Vector


@inlined
def condition(
    block: Matrix, arm: int, x: float, noise_var: float, y: float
) -> tuple[float, float, float]:
    """Condition a block on y = x theta + noise.

    Returns S S' x from before the update, the innovation and its variance.
    """
    std = block[0, arm]
    var = noise_var + (x * std) ** 2
    residual = y - x * block[1, arm]
    cov_x = std * std * x
    block[1, arm] += cov_x * (residual / var)
    block[0, arm] = std * sqrt(noise_var / var)
    return cov_x, residual, var


@inlined
def tell(maps: Matrix, arm: int | np.uintp, cov_x: float) -> float:
    """The feature K x by which a parent hears of x.

    This and `inherit` are all that kernels know of the gain K.
    """
    message: float = maps[1, arm] * cov_x
    return message


@inlined
def inherit(maps: Matrix, arm: int, theta: float) -> float:
    """What a node hears of its parent's parameter, in its own coordinates."""
    heard: float = maps[1, arm] * theta
    return heard


@inlined
def observe_above(
    nodes: NodeArrays, node: int, arm: int, var: float, y: float
) -> tuple[float, float, int]:
    """Fold an observation into a node and all nodes above it.

    Returns the root's innovation, its variance, and the population.
    """
    parent, level, _, maps, state, roots = nodes
    x = 1.0
    while parent[node] >= 0:
        own = maps[level[node]]
        cov_x, y, var = condition(state[node], arm, own[0, arm] * x, var, y)
        x = tell(own, arm, cov_x)
        node = parent[node]
    _, y, var = condition(roots[~parent[node]], arm, x, var, y)
    return y, var, ~parent[node]


@compiled
def observe_event(
    nodes: NodeAddress,
    node: int,
    arm: int,
    reward: float,
    noise_std: float,  # 0: the hierarchy's own
    evidence: Matrix,  # (3, P), or (3, 0): nobody counts
) -> tuple[float, float]:
    """Learn one reward of a task; returns its innovation and the innovation's variance."""
    arrays = diagonal_nodes(nodes)
    _, level, assumed, _, _, _ = arrays
    var = noise_std * noise_std if noise_std > 0 else assumed[level[node], 0]
    residual, var, population = observe_above(arrays, node, arm, var, reward)
    if evidence.shape[1] > 0:
        count_event(evidence, population, residual, var)
    return residual, var


@compiled
def observe(
    nodes: NodeArrays,
    tasks: Indices,
    features: Indices,
    rewards: Vector,
    noise_std: Vector,  # (E,), or empty: the hierarchy's own
    evidence: Matrix,  # (3, P)
) -> None:
    """Learn a batch of rewards, in order: each climbs from its task to the root."""
    _, level, assumed, _, _, _ = nodes
    for e in range(tasks.size):
        var = noise_std[e] * noise_std[e] if noise_std.size else assumed[level[tasks[e]], 0]
        residual, var, population = observe_above(nodes, tasks[e], features[e], var, rewards[e])
        count_event(evidence, population, residual, var)


@compiled
def shift(nodes: NodeArrays, node: int, arm: int, amount: float) -> None:
    """Move the means by what a changed reward implies; see `dense.shift`."""
    parent, level, _, maps, state, roots = nodes
    message = amount
    while parent[node] >= 0:
        own = maps[level[node]]
        step = state[node, 0, arm] ** 2 * own[0, arm] * message
        state[node, 1, arm] += step
        message = tell(own, arm, step)
        node = parent[node]
    root = roots[~parent[node]]
    root[1, arm] += root[0, arm] ** 2 * message


@inlined
def predict_above(nodes: NodeArrays, node: int, arm: int) -> tuple[float, float, float]:
    """Mean and variance of an arm's mean reward, the variance split into own and ancestors'."""
    parent, level, _, maps, state, roots = nodes
    mean, within, shared = 0.0, 0.0, 0.0
    x = 1.0
    is_first = True
    while parent[node] >= 0:
        own = maps[level[node]]
        along = own[0, arm] * x
        cov_x = state[node, 0, arm] ** 2 * along
        mean += along * state[node, 1, arm]
        if is_first:
            within = along * cov_x
            is_first = False
        else:
            shared += along * cov_x
        x = tell(own, arm, cov_x)
        node = parent[node]
    root = roots[~parent[node]]
    mean += x * root[1, arm]
    var = (x * root[0, arm]) ** 2
    return (mean, var, 0.0) if is_first else (mean, within, shared + var)


@compiled
def predict_event(nodes: NodeAddress, node: int, arm: int) -> tuple[float, float, float]:
    """The mean of one arm's mean reward, its own variance and its ancestors'."""
    return predict_above(diagonal_nodes(nodes), node, arm)


@compiled
def predict(
    nodes: NodeArrays,
    tasks: Indices,
    table: Indices,
    rows: Indices,
    out: Matrix,  # (3, E)
) -> None:
    """Fill the mean of arms' mean rewards, their own variance and their ancestors'."""
    for e in range(tasks.size):
        out[0, e], out[1, e], out[2, e] = predict_above(nodes, tasks[e], table[rows[e]])


@compiled
def draw(
    nodes: NodeArrays,
    slot_node: Indices,
    slot_parent: Indices,  # the slot of the node's parent, an earlier one; -1 for a root
    normals: Matrix,  # (slots, K)
    out: Matrix,  # (slots, K)
) -> None:
    """Draw every slot's parameter given its parent's; with zeros for normals, the means."""
    parent, level, _, maps, state, roots = nodes
    num_slots, num_arms = normals.shape
    for s in range(num_slots):
        node = slot_node[s]
        p = slot_parent[s]
        if p < 0:
            root = roots[~parent[node]]
            for i in range(num_arms):
                out[s, i] = root[1, i] + root[0, i] * normals[s, i]
        else:
            block, own = state[node], maps[level[node]]
            for i in range(num_arms):
                std = block[0, i]
                z = normals[s, i] + std * inherit(own, i, out[p, i])
                out[s, i] = own[0, i] * (block[1, i] + std * z)


@compiled
def spread(nodes: NodeAddress, node: int, number: int, normals: Vector, first: int) -> Matrix:
    """The mean of a node's parameter, and below it so many draws, (1 + number, K).

    Draws have ancestors of their own, so arms are independent in each: K normals make one.
    """
    arrays = diagonal_nodes(nodes)
    num_arms = arrays[5].shape[2]
    out = np.empty((1 + number, num_arms))
    for arm in range(num_arms):
        mean, within, shared = predict_above(arrays, node, arm)
        std = sqrt(within + shared)
        out[0, arm] = mean
        for m in range(number):
            out[1 + m, arm] = mean + std * normals[first + m * num_arms + arm]
    return out


@compiled
def choose(
    nodes: NodeAddress,
    node: int,
    normals: Vector,
    first: int,  # where this draw's K normals for each node of the path begin, the root's first
    table: Indices,  # arms
    largest: float,
) -> int:
    """The row of a table that is best in one draw of a node's parameter, or TIED."""
    parent, level, _, maps, state, roots = diagonal_nodes(nodes)
    num_arms = roots.shape[2]
    depth, above = 0, node
    while above >= 0:
        depth, above = depth + 1, parent[above]
    path = np.empty(depth, np.intp)  # the root first
    for s in range(depth - 1, -1, -1):
        path[s] = node
        node = parent[node]
    best, top, is_tied = 0, 0.0, False
    for k in range(table.size):
        arm = table[k]
        theta = roots[~node, 1, arm] + roots[~node, 0, arm] * normals[first + arm]
        for s in range(1, depth):
            row, std = level[path[s]], state[path[s], 0, arm]
            z = normals[first + s * num_arms + arm] + std * inherit(maps[row], arm, theta)
            theta = maps[row, 0, arm] * (state[path[s], 1, arm] + std * z)
        if k == 0 or theta > top:
            best, top, is_tied = k, theta, False
        elif theta == top:
            is_tied = True
    return TIED if is_tied else best
