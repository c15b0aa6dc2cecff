"""Thompson sampling: play the arm that is best in a posterior draw."""

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Vector


def thompson(
    belief: Posterior, rng: Generator, nodes: Indices, arms: Arms, /, *, fresh: bool = False
) -> Indices:
    """Play the best arms of one joint posterior draw.  [HBB, Algorithm 1]

    The tasks of a round share one draw of mu, and the events of a task share one draw of theta.
    With `fresh`, every task draws a mu of its own.
    """
    theta, slots = belief.draws(rng, nodes, fresh=fresh)
    return arms.best_under(theta, slots, rng)


def thompson_with_propensities(
    belief: Posterior,
    rng: Generator,
    nodes: Indices,
    arms: Arms,
    /,
    *,
    draws: int,
    floor: float = 0.0,
) -> tuple[Indices, Vector]:
    """Thompson sampling, and the probability with which each arm was chosen.

    The rule makes so many joint posterior draws and plays one of them, picked uniformly.  Given
    the draws, an arm's propensity is the share of them that choose it.  With probability `floor`
    an event plays one of its K arms uniformly instead, so that no propensity is below floor / K.
    """
    theta, slots = belief.draws(rng, nodes, repeats=draws)
    choices = arms.repeated(draws).best_under(theta, slots, rng).reshape(draws, -1)
    played = choices[rng.integers(draws)]
    if floor > 0:
        uniform = arms.numbers((rng.random(nodes.size) * arms.sizes).astype(np.intp))
        played = np.where(rng.random(nodes.size) < floor, uniform, played)
    share = (choices == played).mean(axis=0)
    return played, (1 - floor) * share + floor / arms.sizes
