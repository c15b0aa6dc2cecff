"""What grids of hyper-parameters say of arms: moments and draws, mixtures over all cells."""

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.hyper_grid import GAMMA, GridArrays
from hierbandits.kernels.plain_functions import plain_exp
from hierbandits.types import Features, Indices, Matrix, Vector


@inlined
def weigh(logs: Vector, weights: Vector, rows: Vector) -> None:
    """The weights of all cells, which add up to 1, and the cumulated weights of rows."""
    n, top, total = rows.size, logs[0], 0.0
    for c in range(logs.size):
        top = max(top, logs[c])
    for c in range(logs.size):
        weights[c] = plain_exp(logs[c] - top)
        total += weights[c]
    for c in range(logs.size):
        weights[c] /= total
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += weights[i * n + j]
        rows[i] = total


@inlined
def refresh(grids: GridArrays, tree: int, arm: int) -> None:
    """Let the weights of an arm know of all events."""
    _, _, _, _, _, _, _, logs, weights, rows, marks = grids
    if marks[tree, arm]:
        weigh(logs[tree, arm], weights[tree, arm], rows[tree, arm])
        marks[tree, arm] = 0


@inlined
def chosen(weights: Vector, rows: Vector, uniform: float) -> int:
    """The cell that a uniform number in [0, 1) stands for."""
    n = rows.size
    left, i = uniform * rows[n - 1], 0
    while i < n - 1 and rows[i] <= left:
        i += 1
    left -= rows[i - 1] if i > 0 else 0.0
    cell = i * n
    while cell < i * n + n - 1 and weights[cell] <= left:
        left -= weights[cell]
        cell += 1
    return cell


@inlined
def mean_of(kind: int, up: float) -> float:
    """The mean m of e^x."""
    return up if kind == GAMMA else up / (1.0 + up)


@compiled
def refresh_all(grids: GridArrays) -> None:
    """Let all weights know of all events."""
    marks = grids[10]
    for tree in range(marks.shape[0]):
        for arm in range(marks.shape[1]):
            refresh(grids, tree, arm)


@compiled
def predict(
    grids: GridArrays, kind: int, nodes: Indices, table: Features, rows: Indices, out: Matrix
) -> None:
    """Fill the mean of an arm's parameter, its own variance and that of the hyper-parameter.

    Of a root, the arm's mean m and its variance.
    """
    parent, state, _, _, _, _, axes, _, weights, _, _ = grids
    n = axes.shape[3]
    for e in range(nodes.size):
        node, arm = nodes[e], table[rows[e]]
        is_root = parent[node] < 0
        tree = ~parent[node] if is_root else ~parent[parent[node]]
        refresh(grids, tree, arm)
        w, up, u = weights[tree, arm], axes[tree, arm, 0], axes[tree, arm, 1]
        had = 0.0 if is_root else state[node, 0, arm]
        over = 0.0 if is_root else state[node, 1, arm]
        mean, within, shared = 0.0, 0.0, 0.0
        for i in range(n):
            for j in range(n):
                centre, var = moments(kind, up[i], u[j], had, over)
                mean += w[i * n + j] * centre
                within += w[i * n + j] * var
        for i in range(n):
            for j in range(n):
                centre, var = moments(kind, up[i], u[j], had, over)
                shared += w[i * n + j] * (centre - mean) ** 2
        out[0, e] = mean
        out[1, e] = shared if is_root else within
        out[2, e] = 0.0 if is_root else shared


@inlined
def moments(kind: int, up: float, u: float, had: float, over: float) -> tuple[float, float]:
    """The mean and the variance of a parameter with these sums, given a cell."""
    if kind == GAMMA:
        a, b = u + had, u / up + over
        return a / b, a / (b * b)
    a, b = u + u * up + had, u + u / up + (over - had)
    whole = 1.0 / (a + b)
    return a * whole, a * whole * (b * whole) / (a + b + 1.0)


@compiled
def draw(
    grids: GridArrays,
    kind: int,
    slot_node: Indices,
    slot_parent: Indices,
    uniforms: Matrix,
    first: Matrix,
    second: Matrix,
    cells: Indices,
) -> None:
    """Draw a cell for each root's slot and arm; all below it have the same.

    Fills the mean m of roots, and the two numbers of the Beta or Gamma of tasks.
    """
    parent, state, _, _, _, _, axes, _, weights, rows, _ = grids
    n = axes.shape[3]
    for s in range(slot_node.size):
        node, above = slot_node[s], slot_parent[s]
        is_root = parent[node] < 0
        tree = ~parent[node] if is_root else ~parent[parent[node]]
        for arm in range(first.shape[1]):
            if is_root:
                refresh(grids, tree, arm)
                cells[s, arm] = chosen(weights[tree, arm], rows[tree, arm], uniforms[s, arm])
            else:
                cells[s, arm] = cells[above, arm]
            up, u = axes[tree, arm, 0, cells[s, arm] // n], axes[tree, arm, 1, cells[s, arm] % n]
            if is_root:
                first[s, arm] = mean_of(kind, up)
                continue
            had, over = state[node, 0, arm], state[node, 1, arm]
            first[s, arm] = u + had if kind == GAMMA else u + u * up + had
            second[s, arm] = u / up + over if kind == GAMMA else u + u / up + (over - had)
