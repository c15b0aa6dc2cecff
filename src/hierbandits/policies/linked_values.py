"""What arms are worth where rewards are not Gaussian: mean rewards, not linear predictors.

A link increases, so the best arm of a draw and the arm of highest bound are the same by either.
Means and differences are not: rules that use them ask here.
"""

import numpy as np

from hierbandits.kernels.information import mixture_shares
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.types import Indices, Mask, Matrix, Vector


def mean_rewards(view: BeliefView, nodes: Indices, arms: Arms) -> Vector:
    """The posterior mean of the mean reward of every arm of every event, as `Arms.flat_rows`."""
    checked, time = view._checked(nodes, None)
    sizes = view._fitting_arms(arms, checked.size).sizes
    times = None if time is None else np.repeat(time, sizes)
    linear = view._viewed._raw_predict(
        np.repeat(checked, sizes), arms._own_table, arms.flat_rows(), times
    )
    return view._viewed._raw_mean_reward(linear.mean, linear.std).mean


def linked_pairs(
    view: BeliefView, arms: Arms, means: Matrix | None, theta: Matrix, slots: Indices
) -> tuple[Indices, Vector]:
    """The two arms of each event's mixture, (2, E), and the share of the first: see `Ids`.

    `slots` are the rows of theta of the events, draw after draw.  With `means`, which are those of
    the events' parameters, (E, d), a draw has its mirror image, before the link.
    """
    link, events = view._viewed._raw_linked, np.arange(arms.num_events)
    draws = slots.size // max(events.size, 1)
    event, place, eligible = _places(arms)
    number = draws if means is None else 2 * draws
    values = np.zeros((events.size, number, eligible.shape[1]))
    centre = None if means is None else arms.values(means)
    for m in range(draws):
        eta = arms.values(theta[slots[m * events.size : (m + 1) * events.size]])
        values[event, m, place] = link(eta)
        if centre is not None:
            values[event, draws + m, place] = link(2 * centre - eta)
    shares = np.zeros(eligible.shape)
    mixture_shares(values, eligible, shares)
    first = shares.argmax(1)
    share = shares[events, first]
    shares[events, first] = 0.0
    second = np.where(shares.max(1, initial=0.0) > 0, shares.argmax(1), first)
    return np.stack([arms.numbers(first), arms.numbers(second)]), share


def _places(arms: Arms) -> tuple[Indices, Indices, Mask]:
    """The event and the place of every arm, as `Arms.flat_rows`, and which places have one."""
    sizes = arms.sizes
    event = np.repeat(np.arange(sizes.size), sizes)
    place = np.arange(event.size) - np.repeat(arms._own_offset[:-1], sizes)
    eligible = np.zeros((sizes.size, int(sizes.max(initial=1))), np.bool_)
    eligible[event, place] = True
    return event, place, eligible
