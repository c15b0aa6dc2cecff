"""What a reward does to the grids of hyper-parameters: see `hyper_grid`."""

from math import log

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.hyper_grid import (
    BETA,
    GAMMA,
    STALE,
    UNSETTLED,
    GridArrays,
    levelled,
    place_arm,
    support,
)
from hierbandits.kernels.log_rise import log_rise
from hierbandits.kernels.plain_functions import plain_log1p
from hierbandits.kernels.plain_log import plain_log
from hierbandits.types import Features, Indices, Vector

SLACK = 4.0
"""By how much the end of a range may rise before it moves, in units of log weights."""

LEAST = 0.4
"""The part of a range that the posterior must fill: less, and it moves."""


@inlined
def tell(
    kind: int,
    logs: Vector,
    ups: Vector,
    precisions: Vector,
    had: float,
    over: float,
    more: float,
    size: float,
) -> None:
    """Let a task with the sums `had` over `over` have `more` over `size` besides."""
    n = precisions.size
    for j in range(n):
        u, up, own = precisions[j], ups[j * n : j * n + n], logs[j * n : j * n + n]
        if kind == BETA and size == 1.0 and more == 1.0:
            for i in range(n):
                own[i] += plain_log((u + u * up[i] + had) / (u * (2.0 + up[i] + 1 / up[i]) + over))
        elif kind == BETA and size == 1.0:
            lost = over - had
            for i in range(n):
                down = 1.0 / up[i]
                own[i] += plain_log((u + u * down + lost) / (u * (2.0 + up[i] + down) + over))
        elif kind == BETA:
            less = size - more
            for i in range(n):
                a, b = u + u * up[i] + had, u + u / up[i] + (over - had)
                own[i] += log_rise(a, more) + log_rise(b, less) - log_rise(a + b, size)
        else:
            rise = log_rise(u + had, more)
            for i in range(n):
                b = u / up[i] + over
                ratio = size / b  # whose log1p in two parts, since the plain one ends at 1
                grown = plain_log1p(min(ratio, 1.0)) + plain_log(max(0.5 + 0.5 * ratio, 1.0))
                own[i] += rise - (u + had) * grown - more * plain_log(b + size)


@inlined
def move(
    kind: int,
    logs: Vector,
    ups: Vector,
    precisions: Vector,
    had: float,
    over: float,
    change: float,
) -> None:
    """Let a task with the sums `had` over `over` have `change` more over the same exposure."""
    n, size = precisions.size, abs(change)
    low, sign = min(had, had + change), 1.0 if change > 0 else -1.0
    for j in range(n):
        u = precisions[j]
        for c in range(j * n, j * n + n):
            if kind == GAMMA:
                rise = log_rise(u + low, size) - size * log(u / ups[c] + over)
            else:
                failed = over - low - size
                rise = log_rise(u + u * ups[c] + low, size)
                rise -= log_rise(u + u / ups[c] + failed, size)
            logs[c] += sign * rise


@inlined
def fits(first: int, last: int, n: int) -> bool:
    """Whether a range has room for a posterior that it holds from `first` to `last`."""
    return first > 0 and last < n - 1 and last - first + 2 >= LEAST * (n - 1)


@compiled
def is_in_place(logs: Vector, tops: Vector, depth: float) -> bool:
    """Whether all columns that matter lie where the posterior is; fills their highest logs."""
    n = tops.size
    for j in range(n):
        tops[j] = logs[j * n]
        for c in range(j * n, j * n + n):
            tops[j] = max(tops[j], logs[c])
    top, first, last = support(tops, depth - SLACK)
    if not fits(first, last, n):
        return False
    for j in range(first, last + 1):
        _, low, high = support(logs[j * n : j * n + n], depth - SLACK)
        if not fits(low, high, n) and tops[j] > top - depth + SLACK:
            return False
    return True


@compiled
def settle(grids: GridArrays, kind: int, depth: float, tree: int, arm: int) -> None:
    """Let the highest log weight of an arm be 0; if its posterior leaves the grid, move that."""
    _, _, roots, _, _, _, precisions, _, logs, weights, marks = grids
    room = weights[tree, arm, : precisions.shape[2]]  # which are stale anyway
    if is_in_place(logs[tree, arm], room, depth):
        roots[tree, 0, arm] += levelled(logs[tree, arm])
        marks[tree, arm] = STALE
    else:
        place_arm(grids, kind, depth, tree, arm)


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
    parent, state, _, evidence, _, _, precisions, ups, logs, _, marks = grids
    for e in range(tasks.size):
        node, arm = tasks[e], arms[e]
        tree = ~parent[parent[node]]
        had, over, more, size = state[node, 0, arm], state[node, 1, arm], rewards[e], exposure[e]
        tell(kind, logs[tree, arm], ups[tree, arm], precisions[tree, arm], had, over, more, size)
        state[node, 0, arm] = had + more
        state[node, 1, arm] = over + size
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
    parent, state, _, evidence, _, _, precisions, ups, logs, _, _ = grids
    tree = ~parent[parent[node]]
    had, over = state[node, 0, arm], state[node, 1, arm]
    if change != 0.0:
        move(kind, logs[tree, arm], ups[tree, arm], precisions[tree, arm], had, over, change)
    state[node, 0, arm] = had + change
    evidence[1, tree] += base
    settle(grids, kind, depth, tree, arm)
