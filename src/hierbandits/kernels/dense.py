"""The exact recursion with full covariances: O(d^2) per event and level.

Every node keeps `mean` (d,) and a square root `factor` (d, d) of its covariance given its parent,
P = S S'.  The root's mean includes the hyper-mean; below it, a node's mean is what its own data
say when the parent's parameter is zero.  See docs/design.md for the derivation.

A node's `level` is a row of the tables `precision` (the inverse prior covariance given the
parent) and `noise_var`.  `parent` is a node, or for a root ~population.
"""

from math import sqrt

import numpy as np

from hierbandits.compiler import compiled
from hierbandits.kernels.prefetch import prefetch
from hierbandits.types import Indices, Matrix, Vector

_LINE = 8  # floats in a cache line
_AHEAD = 512  # floats of a factor to ask for; the processor foresees the rest


@compiled
def prefetch_node(mean: Matrix, factor: Matrix, node: int) -> None:
    """Start to load a node's state, which comes next: tasks are far apart in memory."""
    dim = mean.shape[1]
    for k in range(0, min(dim * dim, _AHEAD), _LINE):
        prefetch(factor, node * dim * dim + k)
    for k in range(0, dim, _LINE):
        prefetch(mean, node * dim + k)


@compiled
def condition(
    mean: Matrix,
    factor: Matrix,
    node: int,
    x: Vector,
    noise_var: float,
    y: float,
    scaled: Vector,
    cov_x: Vector,
) -> tuple[float, float]:
    """Condition a node on y = x @ theta + noise, in Potter's square-root form.

    Fills `cov_x` with P x, from before the update; returns the innovation and its variance.
    """
    dim = x.size
    scaled[:] = 0.0
    for i in range(dim):
        for j in range(dim):
            scaled[j] += x[i] * factor[node, i, j]  # f = S' x
    var = noise_var
    residual = y
    for i in range(dim):
        var += scaled[i] * scaled[i]
        residual -= x[i] * mean[node, i]
    shrink = 1.0 / (var + sqrt(noise_var * var))
    for i in range(dim):
        u = 0.0
        for j in range(dim):
            u += factor[node, i, j] * scaled[j]
        cov_x[i] = u
        mean[node, i] += u * (residual / var)
        step = u * shrink
        for j in range(dim):
            factor[node, i, j] -= step * scaled[j]
    return residual, var


@compiled
def multiply(matrices: Matrix, row: int, vector: Vector, out: Vector) -> None:
    """out = matrices[row] @ vector."""
    for i in range(vector.size):
        total = 0.0
        for j in range(vector.size):
            total += matrices[row, i, j] * vector[j]
        out[i] = total


@compiled
def observe(
    nodes: Indices,
    features: Matrix,
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
    """Learn a batch of rewards, in order.

    A task phase, in which each task conditions itself on its own events, then a fold phase, in
    which the innovations, (w, v, r) with w = Sigma^-1 P x, are observations of the ancestors.
    """
    dim = features.shape[1]
    message = features.copy()  # (E, d): the features that the next node up sees
    residual = rewards.copy()
    var = np.empty(nodes.size)
    scaled = np.empty(dim)
    cov_x = np.empty(dim)
    for e in range(nodes.size):
        node = nodes[e]
        if e + 1 < nodes.size:
            prefetch_node(mean, factor, nodes[e + 1])
        noise = noise_std[e] * noise_std[e] if noise_std.size else noise_var[level[node]]
        residual[e], var[e] = condition(
            mean, factor, node, message[e], noise, residual[e], scaled, cov_x
        )
        multiply(precision, level[node], cov_x, message[e])
    for e in range(nodes.size):
        node = parent[nodes[e]]
        while node >= 0:
            residual[e], var[e] = condition(
                mean, factor, node, message[e], var[e], residual[e], scaled, cov_x
            )
            if parent[node] >= 0:  # nobody is above a root
                multiply(precision, level[node], cov_x, message[e])
            node = parent[node]
        population = ~node
        count[population] += 1.0
        log_var[population] += np.log(var[e])
        square[population] += residual[e] * residual[e] / var[e]


@compiled
def shift(
    node: int,
    features: Vector,
    amount: float,  # change of the reward over the noise variance
    parent: Indices,
    level: Indices,
    precision: Matrix,
    mean: Matrix,
    factor: Matrix,
) -> None:
    """Move the means by what a changed reward implies; covariances do not depend on rewards."""
    dim = features.size
    message = features * amount  # what the next node up hears
    scaled = np.empty(dim)
    step = np.empty(dim)
    while node >= 0:
        scaled[:] = 0.0
        for i in range(dim):
            for j in range(dim):
                scaled[j] += message[i] * factor[node, i, j]
        multiply(factor, node, scaled, step)  # P message
        for i in range(dim):
            mean[node, i] += step[i]
        multiply(precision, level[node], step, message)
        node = parent[node]


@compiled
def draw(
    slot_node: Indices,
    slot_parent: Indices,  # the slot of the node's parent, an earlier one; -1 for a root
    normals: Matrix,  # (slots, d)
    parent: Indices,
    level: Indices,
    precision: Matrix,
    mean: Matrix,
    factor: Matrix,
    out: Matrix,  # (slots, d)
) -> None:
    """Draw every slot's parameter given its parent's: S (xi + S' Sigma^-1 theta_parent) + mean.

    With zeros for normals, the posterior means.
    """
    num_slots, dim = normals.shape
    scaled_parent = np.empty((num_slots, dim))  # Sigma^-1 theta, as a slot's children see it
    is_scaled = np.zeros(num_slots, np.bool_)
    z = np.empty(dim)
    for s in range(num_slots):
        node = slot_node[s]
        if s + 1 < num_slots:
            prefetch_node(mean, factor, slot_node[s + 1])
        p = slot_parent[s]
        for i in range(dim):
            z[i] = normals[s, i]
        if p >= 0:
            if not is_scaled[p]:
                multiply(precision, level[node], out[p], scaled_parent[p])
                is_scaled[p] = True
            for i in range(dim):
                for j in range(dim):
                    z[j] += scaled_parent[p, i] * factor[node, i, j]
        for i in range(dim):
            total = mean[node, i]
            for j in range(dim):
                total += factor[node, i, j] * z[j]
            out[s, i] = total


@compiled
def predict(
    nodes: Indices,
    table: Matrix,
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
    """Mean and variance of x @ theta, the variance split into the node's own and its ancestors'."""
    dim = table.shape[1]
    x = np.empty(dim)
    scaled = np.empty(dim)
    cov_x = np.empty(dim)
    for e in range(nodes.size):
        node = nodes[e]
        for i in range(dim):
            x[i] = table[rows[e], i]
        centre = 0.0
        within = 0.0
        shared = 0.0
        while node >= 0:
            scaled[:] = 0.0
            for i in range(dim):
                centre += x[i] * mean[node, i]
                for j in range(dim):
                    scaled[j] += x[i] * factor[node, i, j]
            var = 0.0
            for j in range(dim):
                var += scaled[j] * scaled[j]
            if node == nodes[e]:
                within = var
            else:
                shared += var
            if parent[node] >= 0:
                multiply(factor, node, scaled, cov_x)
                multiply(precision, level[node], cov_x, x)
            node = parent[node]
        out_mean[e] = centre
        out_within[e] = within
        out_shared[e] = shared


@compiled
def accumulate(
    tasks: Indices,
    features: Matrix,
    rewards: Vector,
    xx: Matrix,
    xy: Matrix,
    yy: Vector,
    n: Vector,
) -> None:
    """Add a batch of events to their tasks' sums."""
    for e in range(tasks.size):
        task = tasks[e]
        for i in range(features.shape[1]):
            for j in range(features.shape[1]):
                xx[task, i, j] += features[e, i] * features[e, j]
            xy[task, i] += features[e, i] * rewards[e]
        yy[task] += rewards[e] * rewards[e]
        n[task] += 1.0
