"""Whether two beliefs assume the same, and how the nodes of one hang together."""

import numpy as np

from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.beliefs.adaptive_matched_belief import AdaptiveMatchedBelief
from hierbandits.beliefs.grid_belief import GridBelief
from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.beliefs.posterior import Posterior
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices

TOLERANCE = 1e-9
"""How far assumptions may differ, over the largest number: by far more than two machines do."""


def check_same_model(saved: Posterior, made: Posterior) -> None:
    """Raise an error unless a belief from a file assumes what one that was made anew assumes.

    Of unknown widths the belief's own may be any: they were fitted, or are on grids.
    """
    if saved.num_populations != made.num_populations:
        raise ValueError(f"belief must have {made.num_populations} populations")
    kinds = AdaptiveBelief | AdaptiveMatchedBelief | GridBelief
    if isinstance(saved, kinds) and isinstance(made, kinds):
        same = type(saved.prior) is type(made.prior)
        if not same or saved.prior.to_dict() != made.prior.to_dict():
            raise ValueError(f"belief must be of the agent's prior, {made.prior}")
        return
    families = [belief.family for belief in (saved, made) if isinstance(belief, MatchedBelief)]
    if families and families[0] != families[-1]:
        raise ValueError(f"belief must be of {families[-1]}, got {families[0]}")
    theirs, own = (belief._nodes.levels.hierarchies for belief in (saved, made))
    if len(theirs) != len(own) or not all(map(_are_close, theirs, own)):
        raise ValueError(f"belief must be of what the agent's prior says, {own}, got {theirs}")


def _are_close(one: GaussianHierarchy, other: GaussianHierarchy) -> bool:
    if (one.is_armed, one.num_levels) != (other.is_armed, other.num_levels):
        return False
    parts = [(one.hyper_mean, other.hyper_mean), *zip(one.covs, other.covs, strict=True)]
    parts.append((np.array(one.noise_std), np.array(other.noise_std)))
    for mine, its in parts:
        if mine.shape != its.shape:
            return False
        if np.abs(mine - its).max() > TOLERANCE * np.abs(mine).max():
            return False
    return True


def parents_of(belief: Posterior, nodes: Indices) -> Indices:
    """The node above each of these nodes; negative for a root."""
    parents: Indices = belief._nodes.forest.parent[nodes].astype(np.intp)
    return parents
