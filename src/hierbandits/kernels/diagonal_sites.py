"""Rewards of any family with diagonal covariances: the same as in `dense_sites`, O(1) per level.

Indices are unsigned, so that no time is spent on negative ones, which would count from the end.
"""

from math import log, pi, sqrt

import numpy as np

from hierbandits.compiler import compiled
from hierbandits.kernels.diagonal import tell
from hierbandits.kernels.family_call import FamilyCode
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.kernels.site_change import end_scales, note_move, site_change, site_of
from hierbandits.types import Indices, Matrix, Vector

_LOG_ROOT = 0.5 * log(2.0 * pi)


@compiled
def match(
    nodes: NodeArrays,
    tasks: Indices,
    features: Indices,
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
    """Let the sites of events match their rewards, in order; see `dense_sites.match_rows`."""
    parent, level, _, maps, state, roots = nodes
    along, place = np.empty(depth), np.empty(depth, np.uintp)
    kept = np.empty(tasks.size)
    for e in range(tasks.size):
        node, arm, k = np.uintp(tasks[e]), np.uintp(features[e]), 0
        mean, var, own, x = 0.0, 0.0, 0.0, 1.0
        while parent[node] >= 0:
            row = np.uintp(level[node])
            x *= maps[row, 0, arm]
            cov_x = state[node, 0, arm] ** 2 * x
            mean += x * state[node, 1, arm]
            var += x * cov_x
            if k == 0:
                own = var
            along[k], place[k] = x, node
            x = tell(maps[row], arm, cov_x)
            node = np.uintp(parent[node])
            k += 1
        tree = np.uintp(~parent[node])
        along[k], place[k] = x, tree
        mean += x * roots[tree, 1, arm]
        var += (x * roots[tree, 0, arm]) ** 2
        site, kept[e], gain, shift, log_change, moved = site_change(
            code, rewards[e], exposure[e], shape, mean, var, site_of(sites, e, base)
        )
        if moved != moved:  # the family gives no number: nothing of this event has changed
            sites[2, e] = furthest[0, tree] = np.nan
            return False
        sites[0, e], sites[1, e], sites[2, e] = site
        note_move(furthest, tree, moved, own, var)
        if base.size:
            evidence[0, tree] += 1.0
            log_change += base[e] + _LOG_ROOT
        evidence[1, tree] -= 2.0 * log_change
        before = 1.0
        for up in range(k):
            node, x = place[up], along[up]
            std = state[node, 0, arm]
            after = before + gain * (x * std) ** 2
            per = 1.0 / after
            shift -= gain * x * state[node, 1, arm]
            state[node, 1, arm] += std * std * x * shift * per
            state[node, 0, arm] = std * sqrt(before * per)
            before = after
        x, std = along[k], roots[tree, 0, arm]
        per = 1.0 / (before + gain * (x * std) ** 2)
        shift -= gain * x * roots[tree, 1, arm]
        roots[tree, 1, arm] += std * std * x * shift * per
        roots[tree, 0, arm] = std * sqrt(before * per)
    end_scales(sites, kept)
    return True
