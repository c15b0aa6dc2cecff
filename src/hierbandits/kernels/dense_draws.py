"""Posterior draws with full covariances; see `dense` for the state of nodes."""

import numpy as np

from hierbandits.compiler import compiled
from hierbandits.kernels.dense_gain import inherit
from hierbandits.kernels.lineage import repeated_path
from hierbandits.kernels.loops import TIED, UNFIT
from hierbandits.kernels.node_address import NodeAddress, dense_nodes
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.kernels.prefetch import NODES_AHEAD, prefetch_node
from hierbandits.types import Indices, Matrix, Vector


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
    parent, level, assumed, maps, state, roots = nodes
    num_slots, dim = normals.shape
    heard = np.empty((num_slots, dim))  # G theta, as a slot's children hear it
    below = np.full(num_slots, -1)  # the level of its children, from the first of them on
    z, own = np.empty(dim), np.empty(dim)
    for s in range(num_slots):
        node = slot_node[s]
        if s + NODES_AHEAD < num_slots:
            prefetch_node(state, slot_node[s + NODES_AHEAD])
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
        if below[p] < 0:
            below[p] = level[node]
            inherit(maps, below[p], out[p], heard[p])
        row = below[p]
        for i in range(dim):
            for j in range(dim):
                z[j] += heard[p, i] * state[node, i, j]
        for i in range(dim):
            total = state[node, dim, i]
            for j in range(dim):
                total += state[node, i, j] * z[j]
            out[s, i] = total
        if not assumed[row, 1]:
            for i in range(dim):
                own[i] = out[s, i]
            for i in range(dim):
                total = 0.0
                for j in range(dim):
                    total += maps[row, 0, i, j] * own[j]
                out[s, i] = total


@compiled
def spread(nodes: NodeAddress, node: int, number: int, normals: Vector, first: int) -> Matrix:
    """The mean of a node's parameter, and below it so many draws, (1 + number, d)."""
    arrays = dense_nodes(nodes)
    dim = arrays[5].shape[2]
    slot_node, slot_parent, own = repeated_path(node, arrays[0], number, normals, first, dim)
    out = np.empty((slot_node.size, dim))
    draw(arrays, slot_node, slot_parent, own, out)
    levels = slot_node.size // (1 + number)
    return out[levels - 1 :: levels].copy()


@compiled
def choose(
    nodes: NodeAddress,
    node: int,
    normals: Vector,
    first: int,  # where this draw's d normals for each node of the path begin, the root's first
    table: Matrix,
    largest: float,
) -> int:
    """The row of a table that is best in one draw of a node's parameter, or TIED or UNFIT.

    UNFIT says that a vector of features is longer than `largest`: one of them may be too large.
    """
    parent, level, assumed, maps, state, roots = dense_nodes(nodes)
    num_arms, dim = table.shape
    depth, above = 0, node
    while above >= 0:
        depth, above = depth + 1, parent[above]
    path = np.empty(depth, np.intp)  # the root first
    for s in range(depth - 1, -1, -1):
        path[s], node = node, parent[node]
    theta, heard, z = np.empty(dim), np.empty(dim), np.empty(dim)
    for s in range(depth):
        row, place = level[path[s]], first + s * dim
        for i in range(dim):
            z[i] = normals[place + i]
        if s == 0:
            blocks, b = roots, ~node
        else:
            blocks, b = state, path[s]
            inherit(maps, row, theta, heard)
            for i in range(dim):
                for j in range(dim):
                    z[j] += heard[i] * blocks[b, i, j]
        for i in range(dim):
            total = blocks[b, dim, i]
            for j in range(dim):
                total += blocks[b, i, j] * z[j]
            theta[i] = total
        if s > 0 and not assumed[row, 1]:
            for i in range(dim):
                z[i] = theta[i]
            for i in range(dim):
                total = 0.0
                for j in range(dim):
                    total += maps[row, 0, i, j] * z[j]
                theta[i] = total
    best, top, is_tied = 0, 0.0, False
    for k in range(num_arms):
        value, square = 0.0, 0.0
        for i in range(dim):
            value += table[k, i] * theta[i]
            square += table[k, i] * table[k, i]
        if not square <= largest * largest:
            return UNFIT
        if k == 0 or value > top:
            best, top, is_tied = k, value, False
        elif value == top:
            is_tied = True
    return TIED if is_tied else best
