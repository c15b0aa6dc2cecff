"""Rewards of a family as tasks of a shared policy learn them: by sites that add up."""

from collections.abc import Sequence
from math import frexp
from typing import Any

import numpy as np

from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.beliefs.single_site import NO_SITE, Site, match_site, match_sites
from hierbandits.service.shared_sums import SharedSums

_SWEEPS = 2
"""Times that the rewards of a task are matched again, when that is due."""


class SharedSites:
    """Matches rewards one after the other, in a belief that knows their tasks as of now.

    With each reward the store keeps the part that it has in its task's sums of sites; these are the
    sums of all parts.  A reward of features has a site of its own, which is matched again, with
    those of its task's other rewards, each time that these have doubled.  All rewards of an arm
    have one site, which matches their sum: it is matched anew with each of them, and the reward's
    part is what changes.  So it hardly matters in which order rewards of a task come.  Where widths
    are new, `SharedRefit` matches all sites.
    """

    def __init__(self, belief: MatchedBelief, nodes: Sequence[int], sums: SharedSums) -> None:
        self._belief, self._node_at, self._sums = belief, nodes, sums
        self._in_sums = belief.is_armed and belief.family.ADDS_UP
        self._before = sums.known().n.copy()

    def learn(
        self, place: int, features: Any, was: float | None, value: float, part: Site | None
    ) -> Site:
        """One more reward of a task, or another in place of the one that was; its part then.

        `part` is what the store has of the one that was.
        """
        sums, part = self._sums, NO_SITE if part is None else part
        sums.learn(place, features, was, value)
        before, reward, exposure = part, value, 1.0
        if self._in_sums:
            before = sums.arm_site(place, features)
            reward, exposure = sums.arm_total(place, features)
        node = self._node_at[place]
        after = match_site(self._belief, node, features, reward, exposure, before)
        change = after.plus(before, -1.0)
        sums.add_site(place, features, change)
        return part.plus(change)

    @property
    def due(self) -> list[int]:
        """The places of tasks whose rewards are to be matched again: they have doubled."""
        if self._in_sums:
            return []
        now = self._sums.known().n.tolist()
        both = enumerate(zip(self._before.tolist(), now, strict=True))
        return [place for place, (old, new) in both if new > 1 and frexp(old)[1] < frexp(new)[1]]

    def again(
        self, place: int, features: Sequence[Any], values: Sequence[float], parts: Sequence[Site]
    ) -> list[Site]:
        """Match rewards that a task knows again, given all that is known by now; their parts."""
        table = np.array(features, np.intp if self._belief.is_armed else float)
        rewards, before = np.array(values, float), np.array(parts)
        after = before
        for _ in range(_SWEEPS):
            after = match_sites(
                self._belief, self._node_at[place], table, rewards, np.ones(len(rewards)), after
            )
        for row, change in zip(features, after - before, strict=True):
            self._sums.add_site(place, row, Site(*change.tolist()))
        return [Site(*row) for row in after.tolist()]
