"""Greedy: play the arm that looks best."""

from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices


def greedy(belief: Posterior, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
    """Play the arm of highest posterior mean."""
    means, slots = belief.draws(None, nodes)
    return arms.best_under(means, slots, rng)
