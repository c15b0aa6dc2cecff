"""Rewards of any family with full covariances: each event's site, in one pass up and one down.

The first pass is that of `dense`: at each level it finds the variance of the linear predictor.
Then the site is known, and the second pass conditions every level on it.  So an event costs what a
Gaussian one does, and its site.  See `site_change` for sites and docs/models.md for the derivation.
"""

from math import log, pi, sqrt

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.dense_gain import tell
from hierbandits.kernels.family_call import FamilyCode
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.kernels.prefetch import NODES_AHEAD, prefetch_node
from hierbandits.kernels.sharp_events import SHARP, sharpen, turn
from hierbandits.kernels.site_change import end_scales, note_move, site_change, site_of
from hierbandits.types import Indices, Matrix, Vector

_LOG_ROOT = 0.5 * log(2.0 * pi)


@inlined
def _match_rows(
    nodes: NodeArrays,
    tasks: Indices,
    table: Matrix,
    rows: Indices,  # of the table, (E,); empty: one for each event, in order
    rewards: Vector,
    exposure: Vector,
    shape: float,
    code: FamilyCode,
    sites: Matrix,
    evidence: Matrix,
    depth: int,
    base: Vector,
    furthest: Matrix,
    dim: int,  # the number of features: loops with a constant one are unrolled
) -> bool:
    """`match_rows`."""
    parent, level, assumed, maps, state, roots = nodes
    few = dim % 4
    x, scaled, cov_x = np.empty(dim), np.empty(dim), np.empty(dim)
    along, told = np.empty((depth, dim)), np.empty((depth, dim))  # f = S' x and S f, by level
    centre, square, place = np.empty(depth), np.empty(depth), np.empty(depth, np.intp)
    kept = np.empty(tasks.size)
    for e in range(tasks.size):
        node, k = tasks[e], 0
        if e + NODES_AHEAD < tasks.size:
            prefetch_node(state, tasks[e + NODES_AHEAD])
        first = rows[e] if rows.size else e
        for i in range(dim):
            x[i] = table[first, i]
        mean, var = 0.0, 0.0
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
            for j in range(dim):  # f = S' x, by fours, as in `dense`
                total = 0.0
                for i in range(few):
                    total += x[i] * blocks[b, i, j]
                scaled[j] = total
            for i in range(few, dim, 4):
                x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
                for j in range(dim):
                    near = x0 * blocks[b, i, j] + x1 * blocks[b, i + 1, j]
                    scaled[j] += near + x2 * blocks[b, i + 2, j] + x3 * blocks[b, i + 3, j]
            total, size = 0.0, 0.0
            for i in range(dim):
                total += x[i] * blocks[b, dim, i]
                size += scaled[i] * scaled[i]
                along[k, i] = scaled[i]
            for i in range(dim):
                u = 0.0
                for j in range(dim):
                    u += blocks[b, i, j] * scaled[j]
                cov_x[i] = u
                told[k, i] = u
            centre[k], square[k], place[k] = total, size, b
            mean += total
            var += size
            k += 1
            if above < 0:
                break
            tell(maps, row, cov_x, x)
            node = above
        site, kept[e], gain, shift, log_change, moved = site_change(
            code, rewards[e], exposure[e], shape, mean, var, site_of(sites, e, base)
        )
        if moved != moved:  # the family gives no number: nothing of this event has changed
            sites[2, e] = furthest[0, b] = np.nan
            return False
        sites[0, e], sites[1, e], sites[2, e] = site
        note_move(furthest, b, moved, square[0] if k > 1 else 0.0, var)
        if base.size:
            evidence[0, b] += 1.0
            log_change += base[e] + _LOG_ROOT
        evidence[1, b] -= 2.0 * log_change
        before = 1.0
        for up in range(k):
            b = place[up]
            blocks = roots if up == k - 1 else state
            after = before + gain * square[up]
            shift -= gain * centre[up]
            root = sqrt(before / after)
            shrink, step = gain / (after * (1.0 + root)), shift / after
            for i in range(dim):
                scaled[i], cov_x[i] = along[up, i], told[up, i]
            is_sharp = before < SHARP * after
            if is_sharp:
                turn(blocks[b], scaled)
            for i in range(dim):
                u = cov_x[i]
                blocks[b, dim, i] += u * step
                u *= shrink
                for j in range(dim):
                    blocks[b, i, j] -= u * scaled[j]
            if is_sharp:
                sharpen(blocks[b], scaled, cov_x, root)
            before = after
    end_scales(sites, kept)
    return True


@compiled
def match_rows(
    nodes: NodeArrays,
    tasks: Indices,
    table: Matrix,
    rows: Indices,  # of the table, (E,); empty: one for each event, in order
    rewards: Vector,
    exposure: Vector,
    shape: float,
    code: FamilyCode,
    sites: Matrix,  # (3, E), changed
    evidence: Matrix,  # (3, P), changed
    depth: int,  # the most levels that an event climbs
    base: Vector,  # (E,), what log densities have besides; empty: events are not new
    furthest: Matrix,  # (2, P), raised to how far a linear predictor moves; see `site_change`
) -> bool:
    """Let the sites of events match their rewards, in order; new events have empty ones.

    `furthest` has the furthest move of a linear predictor in each population, and that of the part
    of one that comes from above its task, in standard deviations of that part.
    It stops at a new event for which the family gives no number, and returns False: the log scale
    of its site is then NaN, and so is the population's furthest move.
    There is code of its own for few features, as in `dense.climb`.
    """
    dim = table.shape[1]
    if dim == 2:
        is_done = _match_rows(
            nodes, tasks, table, rows, rewards, exposure, shape, code, sites, evidence, depth,
            base, furthest, 2,
        )  # fmt: skip
    elif dim == 3:
        is_done = _match_rows(
            nodes, tasks, table, rows, rewards, exposure, shape, code, sites, evidence, depth,
            base, furthest, 3,
        )  # fmt: skip
    elif dim == 4:
        is_done = _match_rows(
            nodes, tasks, table, rows, rewards, exposure, shape, code, sites, evidence, depth,
            base, furthest, 4,
        )  # fmt: skip
    else:
        is_done = _match_rows(
            nodes, tasks, table, rows, rewards, exposure, shape, code, sites, evidence, depth,
            base, furthest, dim,
        )  # fmt: skip
    return is_done


@compiled
def match(
    nodes: NodeArrays,
    tasks: Indices,
    features: Matrix,
    rewards: Vector,
    exposure: Vector,
    shape: float,
    code: FamilyCode,
    sites: Matrix,
    evidence: Matrix,
    depth: int,
    base: Vector,
    furthest: Matrix,
) -> bool:
    """`match_rows` with features in the order of the events."""
    none = tasks[:0]
    return match_rows(
        nodes, tasks, features, none, rewards, exposure, shape, code, sites, evidence, depth, base,
        furthest,
    )  # fmt: skip
