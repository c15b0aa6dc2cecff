"""How to choose: functions of a belief, a random generator, tasks and their arms."""

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Vector


def thompson(
    belief: Posterior, rng: Generator, tasks: Indices, arms: Arms, /, *, fresh: bool = False
) -> Indices:
    """Play the best arms of one joint posterior draw.  [HBB, Algorithm 1]

    The tasks of a round share the draw of mu and the repeats of a task share theta; with `fresh`
    every task draws a mu of its own.
    """
    theta, slots = belief.draws(rng, tasks, fresh=fresh)
    return arms.best_under(theta, slots, rng)


def thompson_with_propensities(
    belief: Posterior,
    rng: Generator,
    tasks: Indices,
    arms: Arms,
    /,
    *,
    draws: int,
    floor: float = 0.0,
) -> tuple[Indices, Vector]:
    """Thompson sampling, and the probability with which each arm was chosen.

    Of `draws` joint posterior draws one, picked uniformly, is played, so that given the draws an
    arm's propensity is the share of them that choose it.  With probability `floor` an event
    plays one of its arms uniformly instead, which bounds every propensity from below by
    floor / K.
    """
    theta, slots = belief.draws(rng, tasks, repeats=draws)
    again = arms.repeated(draws)
    choices = again.best_under(theta, slots, rng).reshape(draws, -1)
    played = choices[rng.integers(draws)]
    if floor > 0:
        uniform = arms.numbers((rng.random(tasks.size) * arms.sizes).astype(np.intp))
        played = np.where(rng.random(tasks.size) < floor, uniform, played)
    share = (choices == played).mean(axis=0)
    return played, (1 - floor) * share + floor / arms.sizes
