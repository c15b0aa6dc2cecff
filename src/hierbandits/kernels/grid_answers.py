"""What grids of hyper-parameters say of arms: moments and draws, mixtures over all cells."""

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.hyper_grid import GAMMA, GridArrays
from hierbandits.kernels.plain_functions import plain_exp
from hierbandits.types import Features, Indices, Matrix, Vector


@inlined
def refresh(grids: GridArrays, tree: int, arm: int) -> None:
    """Let the weights of an arm know of all events; they add up to 1."""
    _, _, _, _, _, _, _, _, all_logs, all_weights, marks = grids
    if marks[tree, arm]:
        logs, weights = all_logs[tree, arm], all_weights[tree, arm]
        top, total = logs[0], 0.0
        for c in range(logs.size):
            top = max(top, logs[c])
        for c in range(logs.size):
            weights[c] = plain_exp(logs[c] - top)
            total += weights[c]
        for c in range(logs.size):
            weights[c] /= total
        marks[tree, arm] = 0


@inlined
def chosen(weights: Vector, n: int, uniform: float) -> int:
    """The cell that a uniform number in [0, 1) stands for."""
    left, column = uniform, 0
    while column < n:
        whole = 0.0
        for c in range(column * n, column * n + n):
            whole += weights[c]
        if whole > left or column == n - 1:
            break
        left -= whole
        column += 1
    cell = column * n
    while cell < column * n + n - 1 and weights[cell] <= left:
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
    parent, state, _, _, _, _, precisions, ups, _, weights, _ = grids
    n = precisions.shape[2]
    for e in range(nodes.size):
        node, arm = nodes[e], table[rows[e]]
        is_root = parent[node] < 0
        tree = ~parent[node] if is_root else ~parent[parent[node]]
        refresh(grids, tree, arm)
        w, up, u = weights[tree, arm], ups[tree, arm], precisions[tree, arm]
        had = 0.0 if is_root else state[node, 0, arm]
        over = 0.0 if is_root else state[node, 1, arm]
        mean, within, shared = 0.0, 0.0, 0.0
        for j in range(n):
            for c in range(j * n, j * n + n):
                centre, var = moments(kind, up[c], u[j], had, over)
                mean += w[c] * centre
                within += w[c] * var
        for j in range(n):
            for c in range(j * n, j * n + n):
                centre, var = moments(kind, up[c], u[j], had, over)
                shared += w[c] * (centre - mean) ** 2
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
    parent, state, _, _, _, _, precisions, ups, _, weights, _ = grids
    n = precisions.shape[2]
    for s in range(slot_node.size):
        node, above = slot_node[s], slot_parent[s]
        is_root = parent[node] < 0
        tree = ~parent[node] if is_root else ~parent[parent[node]]
        for arm in range(first.shape[1]):
            if is_root:
                refresh(grids, tree, arm)
                cells[s, arm] = chosen(weights[tree, arm], n, uniforms[s, arm])
            else:
                cells[s, arm] = cells[above, arm]
            up, u = ups[tree, arm, cells[s, arm]], precisions[tree, arm, cells[s, arm] // n]
            if is_root:
                first[s, arm] = mean_of(kind, up)
                continue
            had, over = state[node, 0, arm], state[node, 1, arm]
            first[s, arm] = u + had if kind == GAMMA else u + u * up + had
            second[s, arm] = u / up + over if kind == GAMMA else u + u / up + (over - had)
