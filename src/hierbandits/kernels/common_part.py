"""The exact recursion for arms with a part in common: O(K) numbers for each task.

The same functions as in `dense`, with the same arguments, for two levels.  A feature is an arm's
index.  A task has theta = mu + l + T z, where the number l = tau z_0 is the same for all arms and
z_0 and every z_a are independent and standard normal before any data.  Its block of `state` holds

    row 0   S_a, the standard deviation of z_a given mu and l, and r, that of z_0 given mu
    row 1   s_a = sum of u^2 / var over the arm's events: what they tell about mu_a + l
    row 2   t_a, the mean of z_a if mu + l were zero, and m, that of z_0 if mu were zero

with z_0 and m's r in the last column.  The gain of mu + l is u_a = S_a^2, and z_0 given mu has the
mean m - tau r^2 s @ mu.  A root's block is that of `dense`.  See docs/design.md.
"""

from math import sqrt

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.event_evidence import count_event
from hierbandits.kernels.lineage import repeated_path
from hierbandits.kernels.loops import TIED
from hierbandits.kernels.node_address import NodeAddress, common_nodes
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.kernels.sharp_events import SHARP, sharpen, turn
from hierbandits.types import Indices, Matrix, Vector


@inlined
def tell(own: Matrix, block: Matrix, arm: int, w: Vector) -> float:
    """Fill the features w by which the root hears of an arm; returns the arm's gain u.

    w = u (e_arm - tau^2 r^2 s).  Of the arm itself, 1 - tau^2 r^2 s_arm is the same as
    r^2 (1 + tau^2 sum of the other s), where nothing cancels.
    """
    last = w.size
    u: float = block[0, arm] ** 2
    tau_var, z_var, others = own[0, last] ** 2, block[0, last] ** 2, 0.0
    for b in range(last):
        if b != arm:
            others += block[1, b]
            w[b] = -u * tau_var * z_var * block[1, b]
    w[arm] = u * z_var * (1.0 + tau_var * others)
    return u


@inlined
def root_heard(root: Matrix, w: Vector, f: Vector) -> tuple[float, float]:
    """Fill f = S' w; returns w @ mean and f @ f."""
    dim = w.size
    for j in range(dim):
        f[j] = 0.0
    centre, square = 0.0, 0.0
    for i in range(dim):
        for j in range(dim):
            f[j] += w[i] * root[i, j]
        centre += w[i] * root[dim, i]
    for j in range(dim):
        square += f[j] * f[j]
    return centre, square


@inlined
def observe_above(
    nodes: NodeArrays, node: int, arm: int, var: float, y: float, w: Vector, f: Vector
) -> tuple[float, float, int]:
    """Fold an observation into a task and its root; w and f are work space.

    Returns the root's innovation, its variance, and the population.
    """
    parent, level, _, maps, state, roots = nodes
    last = w.size
    if parent[node] >= 0:
        own, block = maps[level[node]], state[node]
        u = tell(own, block, arm, w)
        width, std = own[0, arm], block[0, arm]
        noise_var = var
        var += (width * std) ** 2
        y -= width * block[2, arm]
        block[2, arm] += std * std * width * (y / var)
        block[0, arm] = std * sqrt(noise_var / var)
        block[1, arm] += u * u / var
        x, std = u * own[0, last], block[0, last]
        noise_var = var
        var += (x * std) ** 2
        y -= x * block[2, last]
        block[2, last] += std * std * x * (y / var)
        block[0, last] = std * sqrt(noise_var / var)
        node = parent[node]
    else:
        for b in range(last):
            w[b] = 0.0
        w[arm] = 1.0
    root = roots[~parent[node]]
    centre, square = root_heard(root, w, f)
    noise_var = var
    var += square
    y -= centre
    shrink, gain = 1.0 / (var + sqrt(noise_var * var)), y / var
    is_sharp = noise_var < SHARP * var
    if is_sharp:
        turn(root, f)
    for i in range(last):
        cov_w = 0.0
        for j in range(last):
            cov_w += root[i, j] * f[j]
        w[i] = cov_w
        step = cov_w * shrink
        for j in range(last):
            root[i, j] -= step * f[j]
        root[last, i] += cov_w * gain
    if is_sharp:
        sharpen(root, f, w, sqrt(noise_var / var))
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
    arrays = common_nodes(nodes)
    _, level, assumed, _, _, roots = arrays
    var = noise_std * noise_std if noise_std > 0 else assumed[level[node], 0]
    w, f = np.empty(roots.shape[2]), np.empty(roots.shape[2])
    residual, var, population = observe_above(arrays, node, arm, var, reward, w, f)
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
    """Learn a batch of rewards, in order."""
    _, level, assumed, _, _, roots = nodes
    w, f = np.empty(roots.shape[2]), np.empty(roots.shape[2])
    for e in range(tasks.size):
        var = noise_std[e] * noise_std[e] if noise_std.size else assumed[level[tasks[e]], 0]
        residual, var, population = observe_above(
            nodes, tasks[e], features[e], var, rewards[e], w, f
        )
        count_event(evidence, population, residual, var)


@compiled
def shift(nodes: NodeArrays, node: int, arm: int, amount: float) -> None:
    """Move the means by what a changed reward implies; see `dense.shift`."""
    parent, level, _, maps, state, roots = nodes
    last = roots.shape[2]
    w, f = np.zeros(last), np.empty(last)
    w[arm] = 1.0
    if parent[node] >= 0:
        own, block = maps[level[node]], state[node]
        u = tell(own, block, arm, w)
        block[2, arm] += u * own[0, arm] * amount
        block[2, last] += block[0, last] ** 2 * own[0, last] * u * amount
        node = parent[node]
    root = roots[~parent[node]]
    root_heard(root, w, f)
    for i in range(last):
        cov_w = 0.0
        for j in range(last):
            cov_w += root[i, j] * f[j]
        root[last, i] += cov_w * amount


@inlined
def predicted(
    nodes: NodeArrays, node: int, arm: int, w: Vector, f: Vector
) -> tuple[float, float, float]:
    """Mean and variance of an arm's mean reward, the variance split into own and the root's."""
    parent, level, _, maps, state, roots = nodes
    last = w.size
    if parent[node] < 0:
        for b in range(last):
            w[b] = 0.0
        w[arm] = 1.0
        mean, var = root_heard(roots[~parent[node]], w, f)
        return mean, var, 0.0
    own, block = maps[level[node]], state[node]
    u = tell(own, block, arm, w)
    x = u * own[0, last]
    within = (own[0, arm] * block[0, arm]) ** 2 + (x * block[0, last]) ** 2
    centre, shared = root_heard(roots[~parent[parent[node]]], w, f)
    return own[0, arm] * block[2, arm] + x * block[2, last] + centre, within, shared


@compiled
def predict_event(nodes: NodeAddress, node: int, arm: int) -> tuple[float, float, float]:
    """The mean of an arm's mean reward, its own variance and its root's."""
    arrays = common_nodes(nodes)
    dim = arrays[5].shape[2]
    return predicted(arrays, node, arm, np.empty(dim), np.empty(dim))


@compiled
def predict(
    nodes: NodeArrays,
    tasks: Indices,
    table: Indices,
    rows: Indices,
    out: Matrix,  # (3, E)
) -> None:
    """Fill the mean of arms' mean rewards, their own variance and their root's."""
    dim = nodes[5].shape[2]
    w, f = np.empty(dim), np.empty(dim)
    for e in range(tasks.size):
        mean, within, shared = predicted(nodes, tasks[e], table[rows[e]], w, f)
        out[0, e], out[1, e], out[2, e] = mean, within, shared


@inlined
def drawn_common(own: Matrix, block: Matrix, mu: Vector, normal: float) -> float:
    """A draw of l given mu."""
    last = mu.size
    along = 0.0
    for b in range(last):
        along += block[1, b] * mu[b]
    tau, std = own[0, last], block[0, last]
    common: float = tau * (block[2, last] - tau * std * std * along + std * normal)
    return common


@compiled
def draw(
    nodes: NodeArrays,
    slot_node: Indices,
    slot_parent: Indices,  # the slot of the node's parent, an earlier one; -1 for a root
    normals: Matrix,  # (slots, K + 1)
    out: Matrix,  # (slots, K)
) -> None:
    """Draw every slot's parameter given its parent's; with zeros for normals, the means."""
    parent, level, _, maps, state, roots = nodes
    num_slots, dim = out.shape
    for k in range(num_slots):
        node, p = slot_node[k], slot_parent[k]
        if p < 0:
            root = roots[~parent[node]]
            for i in range(dim):
                total = root[dim, i]
                for j in range(dim):
                    total += root[i, j] * normals[k, j]
                out[k, i] = total
            continue
        own, block = maps[level[node]], state[node]
        common = drawn_common(own, block, out[p], normals[k, dim])
        for i in range(dim):
            std = block[0, i]
            free = block[2, i] + std * normals[k, i]
            out[k, i] = own[0, i] * free + std * std * (out[p, i] + common)


@compiled
def spread(nodes: NodeAddress, node: int, number: int, normals: Vector, first: int) -> Matrix:
    """The mean of a node's parameter, and below it so many draws, (1 + number, K)."""
    arrays = common_nodes(nodes)
    dim = arrays[5].shape[2]
    slot_node, slot_parent, own = repeated_path(node, arrays[0], number, normals, first, dim + 1)
    out = np.empty((slot_node.size, dim))
    draw(arrays, slot_node, slot_parent, own, out)
    levels = slot_node.size // (1 + number)
    return out[levels - 1 :: levels].copy()


@compiled
def choose(
    nodes: NodeAddress,
    node: int,
    normals: Vector,
    first: int,  # where this draw's K + 1 normals for each node begin, the root's first
    table: Indices,  # arms
    largest: float,
) -> int:
    """The row of a table that is best in one draw of a node's parameter, or TIED."""
    parent, level, _, maps, state, roots = common_nodes(nodes)
    dim = roots.shape[2]
    task, above = node, parent[node]
    root = roots[~above] if above < 0 else roots[~parent[above]]
    theta = np.empty(dim)
    for i in range(dim):
        total = root[dim, i]
        for j in range(dim):
            total += root[i, j] * normals[first + j]
        theta[i] = total
    if above >= 0:
        own, block, start = maps[level[task]], state[task], first + dim + 1
        common = drawn_common(own, block, theta, normals[start + dim])
        for i in range(dim):
            std = block[0, i]
            free = block[2, i] + std * normals[start + i]
            theta[i] = own[0, i] * free + std * std * (theta[i] + common)
    best, top, is_tied = 0, 0.0, False
    for k in range(table.size):
        value = theta[table[k]]
        if k == 0 or value > top:
            best, top, is_tied = k, value, False
        elif value == top:
            is_tied = True
    return TIED if is_tied else best
