"""Rewards of any family for arms with full covariances: an arm is a unit vector."""

from hierbandits.kernels.arm_vectors import unit_vectors
from hierbandits.kernels.dense_sites import match_rows
from hierbandits.kernels.family_call import FamilyCode
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.types import Indices, Matrix, Vector


def match(
    nodes: NodeArrays,
    tasks: Indices,
    features: Indices,
    rewards: Vector,
    exposure: Vector,
    shape: float,
    code: FamilyCode,
    sites: Matrix,
    evidence: Matrix,
    depth: int,
    base: Vector,  # (E,), what log densities have besides; empty: events are not new
    furthest: Matrix,  # (2, P), raised to how far a linear predictor moves; see `site_change`
) -> bool:
    """Let the sites of events match their rewards, in order; see `dense_sites.match_rows`."""
    table = unit_vectors(nodes[-1].shape[2])
    return match_rows(
        nodes, tasks, table, features, rewards, exposure, shape, code, sites, evidence, depth,
        base, furthest,
    )  # fmt: skip
