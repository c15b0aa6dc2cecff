"""The exact recursion with full covariances: O(d^2) per event and level.

A node below the root has theta = theta_parent + T z.  Its block of `state` holds the posterior of z
if theta_parent were zero: a mean t and a square root S of a covariance.  Its covariance given its
parent is T S S' T', and its gain K = T S S' G; see `Levels` for T and G.  The root's block is
plain: its mean includes the hyper-mean.  See docs/design.md for the derivation.
"""

from math import sqrt

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.dense_draws import choose as choose
from hierbandits.kernels.dense_draws import draw as draw
from hierbandits.kernels.dense_draws import spread as spread
from hierbandits.kernels.dense_gain import tell
from hierbandits.kernels.event_evidence import count_event
from hierbandits.kernels.node_address import NodeAddress, dense_nodes
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.kernels.prefetch import NODES_AHEAD, prefetch_node
from hierbandits.kernels.sharp_events import SHARP, sharpen, turn
from hierbandits.types import Indices, Matrix, Vector

OBSERVE, PREDICT, SHIFT = 0, 1, 2


@inlined
def _climb(
    nodes: NodeArrays,
    tasks: Indices,
    table: Matrix,
    rows: Indices,  # of the table, (E,); empty: one for each event, in order
    values: Vector,  # rewards to observe, or changes of rewards over the noise variance to shift by
    noise_std: Vector,  # (E,), or empty: the hierarchy's own
    purpose: int,
    out: Matrix,  # (3, E), filled
    dim: int,  # the number of features: loops with a constant one are unrolled
) -> None:
    """Let events climb from their tasks to the roots, in order.

    At a node, features x meet theta with mean x @ t and variance f @ f, f = S' x.
    - OBSERVE conditions the node on y = x @ theta + noise, in Potter's square-root form.  The
      innovation is one observation of the parent, with its variance for noise.  `out` gets the
      root's innovation e and its variance V, whose densities multiply to the evidence, and the
      population.
    - PREDICT adds up: `out` gets the mean of x @ theta and its variance, the task's own and that
      of its ancestors.
    - SHIFT moves the means by what a changed reward implies.

    The parent hears of x by the features K' x.  All is written out here, once: a function of its
    own for each step takes up to twice the time, since its work space might overlap the state.
    """
    parent, level, assumed, maps, state, roots = nodes
    few = dim % 4
    x, scaled, cov_x = np.empty(dim), np.empty(dim), np.empty(dim)
    for e in range(tasks.size):
        node = tasks[e]
        if e + NODES_AHEAD < tasks.size:
            prefetch_node(state, tasks[e + NODES_AHEAD])
        first = rows[e] if rows.size else e
        for i in range(dim):
            x[i] = table[first, i] * values[e] if purpose == SHIFT else table[first, i]
        y = values[e] if purpose == OBSERVE else 0.0
        var = noise_std[e] * noise_std[e] if noise_std.size else assumed[level[node], 0]
        mean, within, shared = 0.0, 0.0, 0.0
        while True:
            above, row = parent[node], level[node]
            if above >= 0:
                blocks, b = state, node
                if not assumed[row, 1]:  # T' x
                    for i in range(dim):
                        scaled[i] = x[i]
                    for i in range(dim):
                        total = 0.0
                        for j in range(dim):
                            total += maps[row, 2, i, j] * scaled[j]
                        x[i] = total
            else:
                blocks, b = roots, ~above
            for j in range(dim):  # f = S' x, by fours: then f is read and written less often
                total = 0.0
                for i in range(few):
                    total += x[i] * blocks[b, i, j]
                scaled[j] = total
            for i in range(few, dim, 4):
                x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
                for j in range(dim):
                    near = x0 * blocks[b, i, j] + x1 * blocks[b, i + 1, j]
                    scaled[j] += near + x2 * blocks[b, i + 2, j] + x3 * blocks[b, i + 3, j]
            centre, square = 0.0, 0.0
            for i in range(dim):
                centre += x[i] * blocks[b, dim, i]
                square += scaled[i] * scaled[i]
            if purpose == OBSERVE:
                noise_var = var
                var += square
                y -= centre
                is_sharp = noise_var < SHARP * var
                if is_sharp:
                    turn(blocks[b], scaled)
                shrink = 1.0 / (var + sqrt(noise_var * var))
                gain = y / var
                for i in range(dim):
                    u = 0.0
                    for j in range(dim):
                        u += blocks[b, i, j] * scaled[j]
                    cov_x[i] = u
                    step = u * shrink
                    for j in range(dim):
                        blocks[b, i, j] -= step * scaled[j]
                if is_sharp:
                    sharpen(blocks[b], scaled, cov_x, sqrt(noise_var / var))
                for i in range(dim):
                    blocks[b, dim, i] += cov_x[i] * gain
            else:
                mean += centre
                if node == tasks[e]:
                    within = square
                else:
                    shared += square
                for i in range(dim):
                    u = 0.0
                    for j in range(dim):
                        u += blocks[b, i, j] * scaled[j]
                    cov_x[i] = u
                if purpose == SHIFT:
                    for i in range(dim):
                        blocks[b, dim, i] += cov_x[i]
            if above < 0:
                break
            tell(maps, row, cov_x, x)
            node = above
        if purpose == OBSERVE:
            out[0, e], out[1, e], out[2, e] = y, var, b
        else:
            out[0, e], out[1, e], out[2, e] = mean, within, shared


@compiled
def climb(
    nodes: NodeArrays,
    tasks: Indices,
    table: Matrix,
    rows: Indices,
    values: Vector,
    noise_std: Vector,
    purpose: int,
    out: Matrix,
) -> None:
    """`_climb`, in code of its own for few features: a short loop costs more than its sums."""
    dim = table.shape[1]
    if dim == 2:
        _climb(nodes, tasks, table, rows, values, noise_std, purpose, out, 2)
    elif dim == 3:
        _climb(nodes, tasks, table, rows, values, noise_std, purpose, out, 3)
    elif dim == 4:
        _climb(nodes, tasks, table, rows, values, noise_std, purpose, out, 4)
    else:
        _climb(nodes, tasks, table, rows, values, noise_std, purpose, out, dim)


@compiled
def add_evidence(innovations: Matrix, evidence: Matrix) -> None:
    """Count events: their number, sum of log V and sum of e^2 / V, by population."""
    for e in range(innovations.shape[1]):
        count_event(evidence, int(innovations[2, e]), innovations[0, e], innovations[1, e])


@compiled
def observe_rows(
    nodes: NodeArrays,
    tasks: Indices,
    table: Matrix,
    rows: Indices,  # (E,), the features of each event in the table, or empty: one after the other
    rewards: Vector,
    noise_std: Vector,
    evidence: Matrix,
) -> None:
    """`observe` with features looked up in a table: no interrupt comes before they are counted."""
    innovations = np.empty((3, tasks.size))
    climb(nodes, tasks, table, rows, rewards, noise_std, OBSERVE, innovations)
    add_evidence(innovations, evidence)


@compiled
def observe(
    nodes: NodeArrays,
    tasks: Indices,
    features: Matrix,
    rewards: Vector,
    noise_std: Vector,  # (E,), or empty: the hierarchy's own
    evidence: Matrix,  # (3, P)
) -> None:
    """Learn a batch of rewards, in order."""
    observe_rows(nodes, tasks, features, tasks[:0], rewards, noise_std, evidence)


@compiled
def observe_event(
    nodes: NodeAddress,
    node: int,
    features: Vector,
    reward: float,
    noise_std: float,  # 0: the hierarchy's own
    evidence: Matrix,  # (3, P), or (3, 0): nobody counts
) -> tuple[float, float]:
    """Learn one reward of a task; returns its innovation and the innovation's variance."""
    task, innovation = np.empty(1, np.intp), np.empty((3, 1))
    task[0], innovation[0, 0], innovation[1, 0] = node, reward, noise_std
    x, rewards, noise = features.reshape(1, features.size), innovation[0], innovation[1]
    own = noise if noise_std > 0 else noise[:0]  # read before they are written over
    climb(dense_nodes(nodes), task, x, task[:0], rewards, own, OBSERVE, innovation)
    if evidence.shape[1] > 0:
        add_evidence(innovation, evidence)
    return innovation[0, 0], innovation[1, 0]


@compiled
def predict_event(nodes: NodeAddress, node: int, features: Vector) -> tuple[float, float, float]:
    """The mean of x @ theta of one event, its own variance and its ancestors'."""
    task, out = np.empty(1, np.intp), np.empty((3, 1))
    task[0] = node
    x, none = features.reshape(1, features.size), out[0, :0]
    climb(dense_nodes(nodes), task, x, task[:0], none, none, PREDICT, out)
    return out[0, 0], out[1, 0], out[2, 0]


@compiled
def predict(
    nodes: NodeArrays,
    tasks: Indices,
    table: Matrix,
    rows: Indices,
    out: Matrix,  # (3, E)
) -> None:
    """Fill the mean of x @ theta, its own variance and its ancestors', for rows x of a table."""
    none = np.empty(0)
    climb(nodes, tasks, table, rows, none, none, PREDICT, out)


@compiled
def shift(nodes: NodeArrays, node: int, features: Vector, amount: float) -> None:
    """Move the means by what a changed reward implies; covariances do not depend on rewards.

    `amount` is the change of the reward over the noise variance.
    """
    task, out = np.empty(1, np.intp), np.empty((3, 1))
    task[0], out[0, 0] = node, amount
    x, amounts = features.reshape(1, features.size), out[0]
    climb(nodes, task, x, task[:0], amounts, amounts[:0], SHIFT, out)
