"""The best arms as far as is known, without exploring."""

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Vector


def best_arms(
    belief: Posterior, rng: Generator, nodes: Indices, arms: Arms
) -> tuple[Indices, Vector]:
    """The number of each event's arm of highest posterior mean, and its probability.

    Ties are broken at random, so the probability is one over the number of arms that are tied.
    """
    means, slots = belief.draws(None, nodes)
    values = arms.values(means[slots])
    choices = arms.best(values, rng)
    if nodes.size == 0:
        return choices, np.empty(0)
    first = arms.offset[:-1]
    highest = np.repeat(np.maximum.reduceat(values, first), arms.sizes)
    return choices, 1 / np.add.reduceat((values == highest).astype(float), first)
