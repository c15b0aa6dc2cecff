"""How much a belief keeps of each node."""

from math import prod

from hierbandits.beliefs.posterior import Posterior


def numbers_per_node(belief: Posterior) -> int:
    """How many numbers a node below a root has."""
    return prod(belief._nodes.state.shape[1:])
