"""The posterior of an arm's hyper-parameter on a grid that lies where it is.

A cell of the grid is a pair (x, l): x is the log odds of an arm's mean m, or its log, and l the log
of the width t of tasks.  Given a cell a task's parameter is

    BETA    theta ~ Beta(a, b)     a = (1 + e^x) / t^2     b = (1 + e^-x) / t^2
    GAMMA   theta ~ Gamma(a, b)    a = 1 / t^2             b = e^-x / t^2, a rate

so that its mean is m.  A task's rewards have the sum S over an exposure N, which is the number of
trials of successes.  Log weights hold the log prior, the log likelihood of all tasks and the log of
the area of a cell: they are a trapezoidal sum, whose error falls faster than any power of the step.
All cells of a column have the same l.  Each column lies where the posterior of x given l is: the
wider tasks are, the less is known of their mean.
"""

from math import exp, log, log1p, pi
from typing import NewType

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.log_rise import log_rise
from hierbandits.types import Indices, Matrix, Vector

BETA, GAMMA = 0, 1

STALE, UNSETTLED = 1, 2
"""Marks of an arm's grid: its weights, or even its place, do not know of the last events yet."""

ROUNDS = 60  # the most changes of a range in search of its place
MARGIN = 2  # cells around the posterior, so that it has room to move

ENOUGH = 0.75
"""The part of a range that the posterior fills when it has been moved."""

GridArrays = NewType(
    "GridArrays",
    tuple[Indices, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Indices],
)
"""The arrays of all nodes and of all grids, by arm and, but for the first, by population p:

    parent, state, roots, evidence, assumed, ranges, precisions, ups, logs, weights, marks

state[node] holds S and N of each arm, roots[p, 0] what log weights leave out, evidence[:2, p] the
number of rewards and their log base.  assumed[k] are the means and widths of x and l.  For an arm
of a population with n columns ranges[p, k] has n + 1 rows: the least x of a column and its step,
and last those of l.  precisions[p, k, j] is 1 / t^2 of column j; ups[p, k], logs[p, k] and
weights[p, k] have e^x, a log weight and a weight for each cell, column after column.
"""


@compiled
def sort_both(keys: Vector, others: Vector) -> None:
    """Put keys in order, and others with them: Shell's sort, which compiles in no time."""
    gap = 1
    while gap < keys.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, keys.size):
            key, other, place = keys[i], others[i], i
            while place >= gap and keys[place - gap] > key:
                keys[place], others[place] = keys[place - gap], others[place - gap]
                place -= gap
            keys[place], others[place] = key, other
        gap //= 3


@compiled
def steps_of(values: Vector) -> Matrix:
    """Sums of log_rise(a, v) over values are sums over steps: their start, length and number.

    A step is as many tasks as are above its start, so that equal values cost nothing, (3, steps).
    """
    ordered, used, start = values.copy(), 0, 0.0
    sort_both(ordered, np.empty(values.size))
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
    keys, others, used = over.copy(), sums.copy(), -1
    sort_both(keys, others)
    groups = np.zeros((3, over.size))
    for place in range(keys.size):
        if used < 0 or groups[0, used] != keys[place]:
            used += 1
            groups[0, used] = keys[place]
        groups[1, used] += 1.0
        groups[2, used] += others[place]
    return groups[:, : used + 1].copy()


@inlined
def rises(a: float, steps: Matrix) -> float:
    """The sum of log_rise(a, v) over the values that these are the steps of."""
    total = 0.0
    for k in range(steps.shape[1]):
        total += steps[2, k] * log_rise(a + steps[0, k], steps[1, k])
    return total


@compiled
def fill_column(
    kind: int,
    won: Matrix,
    lost: Matrix,
    both: Matrix,
    assumed: Vector,
    x: Vector,
    width: float,
    logs: Vector,
) -> None:
    """The log densities of the cells of a column; `won`, `lost` and `both` are steps, or groups.

    `x` are the least one of the column and its step, and `width` is its l.
    """
    u, z = exp(-2.0 * width), (width - assumed[2]) / assumed[3]
    whole = -0.5 * z * z - log(2.0 * pi * assumed[1] * assumed[3])
    if kind == GAMMA:
        whole += rises(u, won)
    for i in range(logs.size):
        up = exp(x[0] + i * x[1])
        z = (x[0] + i * x[1] - assumed[0]) / assumed[1]
        total = whole - 0.5 * z * z
        if kind == GAMMA:
            b = u / up
            for k in range(both.shape[1]):
                total -= both[1, k] * u * log1p(both[0, k] / b)
                total -= both[2, k] * log(b + both[0, k])
        else:
            a, b = u + u * up, u + u / up
            total += rises(a, won) + rises(b, lost) - rises(a + b, both)
        logs[i] = total


@inlined
def support(values: Vector, depth: float) -> tuple[float, int, int]:
    """The highest value, and the first and the last that are less than `depth` below it."""
    top = values[0]
    for c in range(values.size):
        top = max(top, values[c])
    first, last = 0, values.size - 1
    while first < last and values[first] <= top - depth:
        first += 1
    while last > first and values[last] <= top - depth:
        last -= 1
    return top, first, last


@inlined
def moved(place: Vector, first: int, last: int, n: int) -> bool:
    """Move a range, its least number and its step, if the posterior leaves or hardly fills it."""
    low, step = place[0], place[1]
    high = low + (n - 1) * step
    width = high - low
    if first == 0 or last == n - 1:
        low -= width / 2 if first == 0 else 0.0
        high += width / 2 if last == n - 1 else 0.0
    elif last - first + 2 * MARGIN < ENOUGH * (n - 1):
        low, high = low + (first - MARGIN) * step, low + (last + MARGIN) * step
    else:
        return False
    if high - low < 1e-9 * (1.0 + abs(low)):  # there are no digits for a narrower one
        return False
    place[0], place[1] = low, (high - low) / (n - 1)
    return True


@compiled
def place_grid(
    kind: int,
    sums: Vector,
    over: Vector,
    assumed: Vector,
    depth: float,
    ranges: Matrix,
    logs: Vector,
) -> None:
    """Move all ranges to where the posterior is, given all tasks' sums; fill the log weights."""
    n = ranges.shape[0] - 1
    won = steps_of(sums)
    if kind == GAMMA:
        lost, both = won, groups_of(sums, over)
    else:
        lost, both = steps_of(over - sums), steps_of(over)
    tops = np.empty(n)
    for _ in range(ROUNDS):
        for j in range(n):
            if j > 0:
                ranges[j] = ranges[j - 1]  # where its neighbour is
            column, width = logs[j * n : j * n + n], ranges[n, 0] + j * ranges[n, 1]
            for _ in range(ROUNDS):
                fill_column(kind, won, lost, both, assumed, ranges[j], width, column)
                tops[j], first, last = support(column, depth)
                if not moved(ranges[j], first, last, n):
                    break
            for i in range(n):
                column[i] += log(ranges[j, 1] * ranges[n, 1])
        _, first, last = support(tops, depth)
        if not moved(ranges[n], first, last, n):
            return


@inlined
def fill_cells(ranges: Matrix, precisions: Vector, ups: Vector) -> None:
    """1 / t^2 of each column, and e^x of each cell."""
    n = precisions.size
    for j in range(n):
        precisions[j] = exp(-2.0 * (ranges[n, 0] + j * ranges[n, 1]))
        for i in range(n):
            ups[j * n + i] = exp(ranges[j, 0] + i * ranges[j, 1])


@compiled
def fill_all_cells(ranges: Matrix, precisions: Matrix, ups: Matrix) -> None:
    """`fill_cells` of all grids."""
    for tree in range(ranges.shape[0]):
        for arm in range(ranges.shape[1]):
            fill_cells(ranges[tree, arm], precisions[tree, arm], ups[tree, arm])


@compiled
def place_arm(grids: GridArrays, kind: int, depth: float, tree: int, arm: int) -> None:
    """Move the grid of an arm to where its posterior is, by all sums of the population's tasks."""
    parent, state, roots, evidence, assumed, ranges, precisions, ups, all_logs, _, marks = grids
    logs, number = all_logs[tree, arm], 0
    last = parent.size if evidence[0, tree] > 0 else 0  # nobody has any sums before
    sums, over = np.empty(last), np.empty(last)
    for node in range(last):
        if parent[node] >= 0 and ~parent[parent[node]] == tree and state[node, 1, arm] > 0:
            sums[number], over[number] = state[node, 0, arm], state[node, 1, arm]
            number += 1
    place_grid(kind, sums[:number], over[:number], assumed[arm], depth, ranges[tree, arm], logs)
    fill_cells(ranges[tree, arm], precisions[tree, arm], ups[tree, arm])
    roots[tree, 0, arm] = levelled(logs)
    marks[tree, arm] = STALE


@inlined
def levelled(logs: Vector) -> float:
    """Let the highest log weight be 0; returns what it was."""
    top: float = logs[0]
    for c in range(logs.size):
        top = max(top, logs[c])
    for c in range(logs.size):
        logs[c] -= top
    return top


@compiled
def place_all(grids: GridArrays, kind: int, depth: float) -> None:
    """Move all grids to where their posteriors are."""
    marks = grids[10]
    for tree in range(marks.shape[0]):
        for arm in range(marks.shape[1]):
            place_arm(grids, kind, depth, tree, arm)
