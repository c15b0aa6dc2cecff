"""A batch of rewards of a family that a belief learns wholly or not at all."""

from typing import TYPE_CHECKING

import numpy as np

from hierbandits.beliefs.kept_rows import KeptRows
from hierbandits.types import Features, Indices, Matrix, Vector

if TYPE_CHECKING:
    from hierbandits.beliefs.site_belief import SiteBelief


def match_all(
    belief: "SiteBelief",
    nodes: Indices,
    features: Features,
    rewards: Vector,
    exposure: Vector,
    sites: Matrix,
    base: Vector,
    furthest: Matrix,
) -> None:
    """Let the sites of new rewards match; if the family gives no number for one, nothing changes.

    `furthest` is filled with how far predictors moved.  The package's own families give a number
    for every reward that they take.
    """
    event = nodes, features, rewards, exposure, sites, base, furthest
    if belief.family.is_known:
        belief._match_sites(*event)
        return
    kept = KeptRows.of(belief._nodes, belief._evidence, np.unique(nodes))
    try:
        belief._match_sites(*event)
    except ValueError:
        kept.put_back()
        furthest[:] = 0.0
        raise
