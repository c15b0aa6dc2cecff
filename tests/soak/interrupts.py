"""Agents whose calls are interrupted, by errors at any place and by real signals."""

import time
from itertools import count

from support.agent_lives import EVERY_PRIOR, FAMILY_PRIORS, GRID_PRIORS
from support.interrupted_lives import (
    by_error,
    by_signal,
    in_peace,
    interrupted_life,
    interrupted_looks,
)

from hierbandits import POLICIES
from hierbandits.models.variants import as_given

BELIEVING = [name for name, recipe in POLICIES.items() if recipe.believe is as_given]
"""The policies that take a prior of any kind."""
EVENTS = 150  # of a life


def main(seconds):
    """Lives of every policy and form, with journals and without, until the time is over."""
    names = [name for name, recipe in POLICIES.items() if not recipe.knows_truth]
    names.remove("AdaptiveHierTS")  # its looks begin anew, so it has lives of its own
    counts = {"calls interrupted by an error": 0, "calls interrupted by a signal": 0}
    counts |= {"calls of agents with unknown widths interrupted": 0, "lives": 0}
    end = time.monotonic() + seconds
    for seed in count():
        for form in EVERY_PRIOR:
            for policy in BELIEVING if form in GRID_PRIORS else names:
                for journal in (True, False):
                    for what, way in (("an error", by_error), ("a signal", by_signal)):
                        if seed == 0:
                            interrupted_life(
                                form, policy, 0, EVENTS, journal=journal, interrupt=in_peace
                            )
                        number = interrupted_life(
                            form, policy, seed, EVENTS, journal=journal, interrupt=way
                        )
                        counts[f"calls interrupted by {what}"] += number
                        counts["lives"] += 1
            if "deep" not in form and form not in FAMILY_PRIORS | GRID_PRIORS:
                for way in (in_peace, by_error, by_signal):
                    number = interrupted_looks(form, seed, EVENTS, way)
                    counts["calls of agents with unknown widths interrupted"] += number
            if time.monotonic() > end:
                return counts
    return counts
