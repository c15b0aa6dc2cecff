"""The exact recursion with full covariances: O(d^2) per event and level.

A node below the root has theta = theta_parent + T z.  Its block of `state` holds the posterior of z
if theta_parent were zero: a mean t and a square root S of a covariance.  Its covariance given its
parent is T S S' T', and its gain K = T S S' G; see `Levels` for T and G.  The root's block is
plain: its mean includes the hyper-mean.  See docs/design.md for the derivation.
"""

from math import sqrt

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.kernels.prefetch import prefetch
from hierbandits.types import Indices, Mask, Matrix, Vector

_LINE = 8  # floats in a cache line
_NODES_AHEAD = 8
_AHEAD = 512  # floats of a block to ask for; the processor foresees the rest


@inlined
def prefetch_node(state: Matrix, node: int) -> None:
    """Start to load a node's block, which comes next: tasks are far apart in memory."""
    size = state.shape[1] * state.shape[2]
    for k in range(0, min(size, _AHEAD), _LINE):
        prefetch(state, node * size + k)


@inlined
def scale(blocks: Matrix, b: int, x: Vector, out: Vector) -> None:
    """out = S' x of block b.  Four rows at a time: then `out` is read and written less often."""
    dim = x.size
    first = dim % 4  # rows that do not come in fours
    for j in range(dim):
        total = 0.0
        for i in range(first):
            total += x[i] * blocks[b, i, j]
        out[j] = total
    for i in range(first, dim, 4):
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(dim):
            near = x0 * blocks[b, i, j] + x1 * blocks[b, i + 1, j]
            out[j] += near + x2 * blocks[b, i + 2, j] + x3 * blocks[b, i + 3, j]


@inlined
def condition(
    blocks: Matrix, b: int, x: Vector, noise_var: float, y: float, scaled: Vector, cov_x: Vector
) -> tuple[float, float]:
    """Condition block b on y = x @ theta + noise, in Potter's square-root form.

    Fills `cov_x` with S S' x, from before the update; returns the innovation and its variance.
    """
    dim = x.size
    scale(blocks, b, x, scaled)  # f = S' x
    var = noise_var
    residual = y
    for i in range(dim):
        var += scaled[i] * scaled[i]
        residual -= x[i] * blocks[b, dim, i]
    shrink = 1.0 / (var + sqrt(noise_var * var))
    gain = residual / var
    for i in range(dim):
        u = 0.0
        for j in range(dim):
            u += blocks[b, i, j] * scaled[j]
        cov_x[i] = u
        step = u * shrink
        for j in range(dim):
            blocks[b, i, j] -= step * scaled[j]
    for i in range(dim):
        blocks[b, dim, i] += cov_x[i] * gain
    return residual, var


@inlined
def project(
    blocks: Matrix, b: int, x: Vector, scaled: Vector, cov_x: Vector
) -> tuple[float, float]:
    """Fill `cov_x` with S S' x of block b; returns the mean and the variance of x @ theta."""
    dim = x.size
    scale(blocks, b, x, scaled)
    mean, var = 0.0, 0.0
    for i in range(dim):
        mean += x[i] * blocks[b, dim, i]
        var += scaled[i] * scaled[i]
        u = 0.0
        for j in range(dim):
            u += blocks[b, i, j] * scaled[j]
        cov_x[i] = u
    return mean, var


@inlined
def mapped(maps: Matrix, row: int, which: int, x: Vector, out: Vector) -> None:
    """out = maps[row, which] @ x."""
    for i in range(x.size):
        total = 0.0
        for j in range(x.size):
            total += maps[row, which, i, j] * x[j]
        out[i] = total


@inlined
def localise(is_plain: Mask, maps: Matrix, row: int, x: Vector, out: Vector) -> None:
    """Features in the coordinates of a level: T' x."""
    if is_plain[row]:
        for i in range(x.size):
            out[i] = x[i]
    else:
        mapped(maps, row, 2, x, out)


@inlined
def tell(maps: Matrix, row: int, cov_x: Vector, out: Vector) -> None:
    """The features K' x by which a parent hears of x: G' times S S' T' x.

    This and `inherit` are all that kernels know of the gain K.
    """
    mapped(maps, row, 3, cov_x, out)


@inlined
def inherit(maps: Matrix, row: int, theta: Matrix, slot: int, out: Matrix) -> None:
    """What a slot's children hear of its parameter, in their coordinates: G theta."""
    for i in range(theta.shape[1]):
        total = 0.0
        for j in range(theta.shape[1]):
            total += maps[row, 1, i, j] * theta[slot, j]
        out[slot, i] = total


@inlined
def observe_above(
    nodes: NodeArrays,
    node: int,
    x: Vector,
    var: float,
    y: float,
    own: Vector,
    scaled: Vector,
    cov_x: Vector,
) -> tuple[float, float]:
    """Condition a node, and all nodes above it, on y = x @ theta + noise of this variance.

    A node's innovation is one observation of its parent, with features K' x and the innovation's
    variance for noise.  Returns those of the root: their densities multiply to the evidence.
    Overwrites `x` and the three vectors of work space.
    """
    parent, level, is_plain, maps, _, state, roots = nodes
    while parent[node] >= 0:
        localise(is_plain, maps, level[node], x, own)
        y, var = condition(state, node, own, var, y, scaled, cov_x)
        tell(maps, level[node], cov_x, x)
        node = parent[node]
    return condition(roots, ~parent[node], x, var, y, scaled, cov_x)


@inlined
def root_of(parent: Indices, node: int) -> int:
    """The population of a node."""
    while node >= 0:
        node = parent[node]
    return ~node


@inlined
def add_evidence(
    evidence: tuple[Vector, Vector, Vector], population: int, residual: float, var: float
) -> None:
    """Count an event whose reward has this innovation: count, sum log V, sum e^2 / V."""
    count, log_var, square = evidence
    count[population] += 1.0
    log_var[population] += np.log(var)
    square[population] += residual * residual / var


@compiled
def observe_event(
    nodes: NodeArrays,
    node: int,
    x: Vector,
    noise_var: float,
    reward: float,
    evidence: tuple[Vector, Vector, Vector],
) -> None:
    """Learn one reward of a task; overwrites `x`."""
    own, scaled, cov_x = np.empty(x.size), np.empty(x.size), np.empty(x.size)
    residual, var = observe_above(nodes, node, x, noise_var, reward, own, scaled, cov_x)
    add_evidence(evidence, root_of(nodes[0], node), residual, var)


@compiled
def observe(
    nodes: NodeArrays,
    tasks: Indices,
    features: Matrix,
    rewards: Vector,
    noise_std: Vector,  # (E,), or empty: the hierarchy's own
    evidence: tuple[Vector, Vector, Vector],
) -> None:
    """Learn a batch of rewards, in order.

    A task phase, in which each task conditions itself on its own events, then a fold phase, in
    which their innovations are observations of the ancestors.
    """
    parent, level, _, _, noise_var, state, _ = nodes
    num_events, dim = features.shape
    x, own, scaled, cov_x = np.empty(dim), np.empty(dim), np.empty(dim), np.empty(dim)
    for e in range(num_events):
        node = tasks[e]
        if e + _NODES_AHEAD < num_events:
            prefetch_node(state, tasks[e + _NODES_AHEAD])
        noise = noise_std[e] * noise_std[e] if noise_std.size else noise_var[level[node]]
        for i in range(dim):
            x[i] = features[e, i]
        residual, var = observe_above(nodes, node, x, noise, rewards[e], own, scaled, cov_x)
        add_evidence(evidence, root_of(parent, node), residual, var)


@compiled
def shift(nodes: NodeArrays, node: int, features: Vector, amount: float) -> None:
    """Move the means by what a changed reward implies; covariances do not depend on rewards.

    `amount` is the change of the reward over the noise variance.
    """
    parent, level, is_plain, maps, _, state, roots = nodes
    dim = features.size
    x = features * amount
    own, scaled, cov_x = np.empty(dim), np.empty(dim), np.empty(dim)
    while parent[node] >= 0:
        localise(is_plain, maps, level[node], x, own)
        project(state, node, own, scaled, cov_x)
        for i in range(dim):
            state[node, dim, i] += cov_x[i]
        tell(maps, level[node], cov_x, x)
        node = parent[node]
    project(roots, ~parent[node], x, scaled, cov_x)
    for i in range(dim):
        roots[~parent[node], dim, i] += cov_x[i]


@inlined
def predict_event(
    nodes: NodeArrays, node: int, x: Vector, own: Vector, scaled: Vector, cov_x: Vector
) -> tuple[float, float, float]:
    """Mean and variance of x @ theta, the variance split into the node's own and its ancestors'.

    Overwrites `x` and the three vectors of work space.
    """
    parent, level, is_plain, maps, _, state, roots = nodes
    mean, within, shared = 0.0, 0.0, 0.0
    start = node
    while parent[node] >= 0:
        localise(is_plain, maps, level[node], x, own)
        part, var = project(state, node, own, scaled, cov_x)
        mean += part
        if node == start:
            within = var
        else:
            shared += var
        tell(maps, level[node], cov_x, x)
        node = parent[node]
    part, var = project(roots, ~parent[node], x, scaled, cov_x)
    return (mean + part, var, 0.0) if node == start else (mean + part, within, shared + var)


@compiled
def predict(
    nodes: NodeArrays,
    tasks: Indices,
    table: Matrix,
    rows: Indices,
    out: tuple[Vector, Vector, Vector],
) -> None:
    """Fill the mean of x @ theta, its own variance and its ancestors', for rows x of a table."""
    mean, within, shared = out
    dim = table.shape[1]
    x, own, scaled, cov_x = np.empty(dim), np.empty(dim), np.empty(dim), np.empty(dim)
    for e in range(tasks.size):
        for i in range(dim):
            x[i] = table[rows[e], i]
        mean[e], within[e], shared[e] = predict_event(nodes, tasks[e], x, own, scaled, cov_x)


@compiled
def draw(
    nodes: NodeArrays,
    slot_node: Indices,
    slot_parent: Indices,  # the slot of the node's parent, an earlier one; -1 for a root
    normals: Matrix,  # (slots, d)
    out: Matrix,  # (slots, d)
) -> None:
    """Draw every slot's parameter given its parent's: T (t + S (xi + S' G theta_parent)).

    With zeros for normals, the posterior means.
    """
    parent, level, is_plain, maps, _, state, roots = nodes
    num_slots, dim = normals.shape
    heard = np.empty((num_slots, dim))  # G theta, as a slot's children hear it
    is_heard = np.zeros(num_slots, np.bool_)
    z, own = np.empty(dim), np.empty(dim)
    for s in range(num_slots):
        node = slot_node[s]
        if s + _NODES_AHEAD < num_slots:
            prefetch_node(state, slot_node[s + _NODES_AHEAD])
        p = slot_parent[s]
        for i in range(dim):
            z[i] = normals[s, i]
        if p < 0:
            root = ~parent[node]
            for i in range(dim):
                total = roots[root, dim, i]
                for j in range(dim):
                    total += roots[root, i, j] * z[j]
                out[s, i] = total
            continue
        row = level[node]
        if not is_heard[p]:
            inherit(maps, row, out, p, heard)
            is_heard[p] = True
        for i in range(dim):
            for j in range(dim):
                z[j] += heard[p, i] * state[node, i, j]
        for i in range(dim):
            total = state[node, dim, i]
            for j in range(dim):
                total += state[node, i, j] * z[j]
            out[s, i] = total
        if not is_plain[row]:
            for i in range(dim):
                own[i] = out[s, i]
            for i in range(dim):
                total = 0.0
                for j in range(dim):
                    total += maps[row, 0, i, j] * own[j]
                out[s, i] = total
