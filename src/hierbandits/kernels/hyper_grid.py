"""The posterior of an arm's hyper-parameter on a grid that follows it, and what events do to it.

A cell of the grid is a pair (x, l): x is the log odds of an arm's mean m, or its log, and l the log
of the width t of tasks.  Given a cell a task's parameter is

    BETA    theta ~ Beta(a, b)     a = (1 + e^x) / t^2     b = (1 + e^-x) / t^2
    GAMMA   theta ~ Gamma(a, b)    a = 1 / t^2             b = e^-x / t^2, a rate

so that its mean is m.  A task's rewards have the sum S over an exposure N, which is the number of
trials of successes.  Log weights hold the log prior, the log likelihood of all tasks and the log of
the area of a cell: they are a trapezoidal sum, whose error falls faster than any power of the step.
"""

from math import exp, log, log1p, pi
from typing import NewType

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.log_rise import log_rise
from hierbandits.kernels.plain_functions import plain_log1p
from hierbandits.kernels.plain_log import plain_log
from hierbandits.types import Features, Indices, Matrix, Vector

BETA, GAMMA = 0, 1

STALE, UNSETTLED = 1, 2
"""Marks of an arm's grid: its weights, or even its box, do not know of the last events yet."""

ROUNDS = 60  # the most changes of a box in search of its place
SLACK = 4.0
"""By how much the edge of a box may rise before the box moves, in units of log weights."""

MARGIN = 2  # cells around the posterior, so that it has room to move

FEW = 8  # counts up to here are told factor by factor

LEAST, ENOUGH = 0.4, 0.75
"""The part of a box that the posterior must fill: less, and the box moves until it does."""

GridArrays = NewType(
    "GridArrays",
    tuple[Indices, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Indices],
)
"""The arrays `parent, state, roots, evidence, assumed, boxes, axes, logs, weights, rows, marks`.

state[node] holds S and N of each arm, roots[p, 0] what log weights leave out, evidence[:2, p] the
number of rewards and their log base.  assumed[k] are the means and widths of x and l.  An arm of a
population has boxes[p, k]: the least x, its step, the least l, its step; axes[p, k]: e^x of each
row and 1 / t^2 of each column; logs[p, k] and weights[p, k]: a number for each cell, row after row;
rows[p, k]: the cumulated weights of rows.
"""


@inlined
def tell(
    kind: int, logs: Vector, axes: Matrix, had: float, over: float, more: float, size: float
) -> None:
    """Let a task with the sums `had` over `over` have `more` over `size` besides."""
    n = axes.shape[1]
    for i in range(n):
        up, down, row = axes[0, i], 1.0 / axes[0, i], logs[i * n : i * n + n]
        if kind == BETA and size == 1.0:
            part = up if more == 1.0 else down
            told = had if more == 1.0 else over - had
            for j in range(n):
                u = axes[1, j]
                row[j] += plain_log((u + u * part + told) / (u * (2.0 + up + down) + over))
        elif kind == BETA:
            for j in range(n):
                u, less = axes[1, j], size - more
                a, b = u + u * up + had, u + u * down + (over - had)
                row[j] += log_rise(a, more) + log_rise(b, less) - log_rise(a + b, size)
        else:
            for j in range(n):
                a, b = axes[1, j] + had, axes[1, j] * down + over
                ratio = size / b  # whose log1p in two parts, since the plain one ends at 1
                grown = plain_log1p(min(ratio, 1.0)) + plain_log(max(0.5 + 0.5 * ratio, 1.0))
                row[j] -= a * grown + more * plain_log(b + size)
            if more > FEW:
                for j in range(n):
                    row[j] += log_rise(axes[1, j] + had, more)
            else:
                for k in range(int(more)):
                    for j in range(n):
                        row[j] += plain_log(axes[1, j] + (had + k))


@inlined
def move(kind: int, logs: Vector, axes: Matrix, had: float, over: float, change: float) -> None:
    """Let a task with the sums `had` over `over` have `change` more over the same exposure."""
    n, size = axes.shape[1], abs(change)
    low, sign = min(had, had + change), 1.0 if change > 0 else -1.0
    for i in range(n):
        up, down = axes[0, i], 1.0 / axes[0, i]
        for j in range(n):
            u, c = axes[1, j], i * n + j
            if kind == GAMMA:
                logs[c] += sign * (log_rise(u + low, size) - size * log(u * down + over))
            else:
                failed = over - low - size
                rise = log_rise(u + u * up + low, size) - log_rise(u + u * down + failed, size)
                logs[c] += sign * rise


@inlined
def fill_axes(box: Vector, axes: Matrix) -> None:
    """e^x of each row, and 1 / t^2 of each column."""
    for i in range(axes.shape[1]):
        axes[0, i] = exp(box[0] + i * box[1])
        axes[1, i] = exp(-2.0 * (box[2] + i * box[3]))


@compiled
def steps_of(values: Vector) -> Matrix:
    """Sums of log_rise(a, v) over values are sums over steps: their start, length and number.

    A step is as many tasks as are above its start, so that equal values cost nothing, (3, steps).
    """
    ordered, used, start = np.sort(values), 0, 0.0
    steps = np.empty((3, values.size))
    for i in range(ordered.size):
        if ordered[i] > start:
            steps[0, used], steps[1, used] = start, ordered[i] - start
            steps[2, used] = ordered.size - i
            start, used = ordered[i], used + 1
    return steps[:, :used].copy()


@compiled
def groups_of(sums: Vector, over: Vector) -> Matrix:
    """The exposures that tasks have, how many tasks have each, and their sums, (3, groups)."""
    order, used = np.argsort(over), -1
    groups = np.zeros((3, over.size))
    for place in order:
        if used < 0 or groups[0, used] != over[place]:
            used += 1
            groups[0, used] = over[place]
        groups[1, used] += 1.0
        groups[2, used] += sums[place]
    return groups[:, : used + 1].copy()


@inlined
def rises(a: float, steps: Matrix) -> float:
    """The sum of log_rise(a, v) over the values that these are the steps of."""
    total = 0.0
    for k in range(steps.shape[1]):
        total += steps[2, k] * log_rise(a + steps[0, k], steps[1, k])
    return total


@compiled
def fill_logs(
    kind: int,
    won: Matrix,
    lost: Matrix,
    both: Matrix,
    assumed: Vector,
    box: Vector,
    axes: Matrix,
    logs: Vector,
) -> None:
    """The log weights of all cells of a box; `won`, `lost` and `both` are steps, or groups."""
    n = axes.shape[1]
    fill_axes(box, axes)
    area = log(box[1] * box[3] / (2.0 * pi * assumed[1] * assumed[3]))
    for j in range(n):
        u, z = axes[1, j], (box[2] + j * box[3] - assumed[2]) / assumed[3]
        column = area - 0.5 * z * z
        if kind == GAMMA:
            column += rises(u, won)
        for i in range(n):
            up, down = axes[0, i], 1.0 / axes[0, i]
            z = (box[0] + i * box[1] - assumed[0]) / assumed[1]
            total = column - 0.5 * z * z
            if kind == GAMMA:
                b = u * down
                for k in range(both.shape[1]):
                    total -= both[1, k] * u * log1p(both[0, k] / b)
                    total -= both[2, k] * log(b + both[0, k])
            else:
                a, b = u + u * up, u + u * down
                total += rises(a, won) + rises(b, lost) - rises(a + b, both)
            logs[i * n + j] = total


@compiled
def support(logs: Vector, n: int, depth: float) -> tuple[float, int, int, int, int]:
    """The highest log weight, and the first and last row and column that come close to it.

    Close is less than `depth` below.
    """
    top = logs[0]
    for c in range(logs.size):
        top = max(top, logs[c])
    low, first, last, left, right = top - depth, n, -1, n, -1
    for i in range(n):
        for j in range(n):
            if logs[i * n + j] > low:
                if first == n:
                    first = i
                last, left, right = i, min(left, j), max(right, j)
    return top, first, last, left, right


@inlined
def moved(low: float, step: float, first: int, last: int, n: int) -> tuple[float, float, bool]:
    """An axis of a box on which the posterior lies from `first` to `last`; whether it differs."""
    width, high = (n - 1) * step, low + (n - 1) * step
    if first == 0 or last == n - 1:
        low -= width / 2 if first == 0 else 0.0
        high += width / 2 if last == n - 1 else 0.0
    elif last - first + 2 * MARGIN < ENOUGH * (n - 1):
        low, high = low + (first - MARGIN) * step, low + (last + MARGIN) * step
    else:
        return low, step, False
    if high - low < 1e-9 * (1.0 + abs(low)):  # there are no digits for a narrower one
        return low, step, False
    return low, (high - low) / (n - 1), True


@compiled
def place_grid(
    kind: int,
    sums: Vector,
    over: Vector,
    assumed: Vector,
    depth: float,
    box: Vector,
    axes: Matrix,
    logs: Vector,
) -> None:
    """Move a box to where the posterior is, given all tasks' sums, and fill its log weights."""
    n = axes.shape[1]
    won = steps_of(sums)
    if kind == GAMMA:
        lost, both = won, groups_of(sums, over)
    else:
        lost, both = steps_of(over - sums), steps_of(over)
    for _ in range(ROUNDS):
        fill_logs(kind, won, lost, both, assumed, box, axes, logs)
        _, first, last, left, right = support(logs, n, depth)
        box[0], box[1], is_new = moved(box[0], box[1], first, last, n)
        box[2], box[3], is_newer = moved(box[2], box[3], left, right, n)
        if not (is_new or is_newer):
            return
    fill_logs(kind, won, lost, both, assumed, box, axes, logs)


@compiled
def place_arm(grids: GridArrays, kind: int, depth: float, tree: int, arm: int) -> None:
    """Move the grid of an arm to where its posterior is, by all sums of the population's tasks."""
    parent, state, roots, evidence, assumed, boxes, axes, all_logs, _, _, marks = grids
    logs, number = all_logs[tree, arm], 0
    last = parent.size if evidence[0, tree] > 0 else 0  # nobody has any sums before
    sums, over = np.empty(last), np.empty(last)
    for node in range(last):
        if parent[node] >= 0 and ~parent[parent[node]] == tree and state[node, 1, arm] > 0:
            sums[number], over[number] = state[node, 0, arm], state[node, 1, arm]
            number += 1
    place_grid(
        kind, sums[:number], over[:number], assumed[arm], depth, boxes[tree, arm],
        axes[tree, arm], logs,
    )  # fmt: skip
    top = support(logs, axes.shape[3], depth)[0]
    for c in range(logs.size):
        logs[c] -= top
    roots[tree, 0, arm] = top
    marks[tree, arm] = STALE


@compiled
def place_all(grids: GridArrays, kind: int, depth: float) -> None:
    """Move all grids to where their posteriors are."""
    marks = grids[10]
    for tree in range(marks.shape[0]):
        for arm in range(marks.shape[1]):
            place_arm(grids, kind, depth, tree, arm)


@compiled
def settle(grids: GridArrays, kind: int, depth: float, tree: int, arm: int) -> None:
    """Let the highest log weight of an arm be 0; if its posterior leaves the box, move that."""
    _, _, roots, _, _, _, axes, all_logs, _, _, marks = grids
    logs, n = all_logs[tree, arm], axes.shape[3]
    top, first, last, left, right = support(logs, n, depth - SLACK)
    fill = min(last - first, right - left) + 2
    is_inside = first > 0 and left > 0 and last < n - 1 and right < n - 1
    if not is_inside or fill < LEAST * (n - 1):
        place_arm(grids, kind, depth, tree, arm)
        return
    for c in range(logs.size):
        logs[c] -= top
    roots[tree, 0, arm] += top
    marks[tree, arm] = STALE


@compiled
def observe(
    grids: GridArrays,
    kind: int,
    depth: float,
    tasks: Indices,
    arms: Features,
    rewards: Vector,
    exposure: Vector,
    base: Vector,
) -> None:
    """Learn a batch of rewards of tasks, of these exposures and log bases."""
    parent, state, _, evidence, _, _, axes, logs, _, _, marks = grids
    for e in range(tasks.size):
        node, arm = tasks[e], arms[e]
        tree = ~parent[parent[node]]
        had, over = state[node, 0, arm], state[node, 1, arm]
        tell(kind, logs[tree, arm], axes[tree, arm], had, over, rewards[e], exposure[e])
        state[node, 0, arm] = had + rewards[e]
        state[node, 1, arm] = over + exposure[e]
        evidence[0, tree] += 1.0
        evidence[1, tree] += base[e]
        marks[tree, arm] = UNSETTLED
    for e in range(tasks.size):
        tree = ~parent[parent[tasks[e]]]
        if marks[tree, arms[e]] == UNSETTLED:
            settle(grids, kind, depth, tree, arms[e])


@compiled
def revise(
    grids: GridArrays, kind: int, depth: float, node: int, arm: int, change: float, base: float
) -> None:
    """Let a sum of rewards change over the same exposure, and their log base."""
    parent, state, _, evidence, _, _, axes, logs, _, _, _ = grids
    tree, had = ~parent[parent[node]], state[node, 0, arm]
    if change != 0.0:
        move(kind, logs[tree, arm], axes[tree, arm], had, state[node, 1, arm], change)
    state[node, 0, arm] = had + change
    evidence[1, tree] += base
    settle(grids, kind, depth, tree, arm)


@compiled
def fill_all_axes(boxes: Matrix, axes: Matrix) -> None:
    """The axes of all grids."""
    for tree in range(boxes.shape[0]):
        for arm in range(boxes.shape[1]):
            fill_axes(boxes[tree, arm], axes[tree, arm])
