"""Rewards of a family as tasks of a shared policy learn them: by sites that add up."""

from collections.abc import Sequence
from typing import Any

from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.beliefs.single_site import NO_SITE, Site, match_site
from hierbandits.service.shared_sums import SharedSums


class SharedSites:
    """Matches rewards one after the other, in a belief that knows their tasks as of now.

    With each reward the store keeps the part that it has in its task's sums of sites; these are the
    sums of all parts.  A reward of features has a site of its own.  All rewards of an arm have one
    site, which matches their sum: it is matched anew with each of them, and the reward's part is
    what changes.  So it hardly matters in which order rewards of an arm come.
    """

    def __init__(self, belief: MatchedBelief, nodes: Sequence[int], sums: SharedSums) -> None:
        self._belief, self._nodes, self._sums = belief, nodes, sums
        self._in_sums = belief.is_armed and belief.family.ADDS_UP

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
        node = self._nodes[place]
        after = match_site(self._belief, node, features, reward, exposure, before)
        change = after.plus(before, -1.0)
        sums.add_site(place, features, change)
        return part.plus(change)
