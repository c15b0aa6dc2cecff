"""Whether the arms that were seen to be played are those that the propensities promised."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hierbandits.service.wealth import Array, Wealth
from hierbandits.types import Name

LOSSES = np.array([0.016, 0.06, 0.2, 0.7])
"""The shares of an arm's exposures that bets suppose to be lost."""
_OF_LOSSES = np.array([0.85, 0.06, 0.05, 0.04])
_FIRST = 0.9
_LATER = 0.01  # of the account is kept for arms that come later


def ratio_wealth(num_arms: int, shape: tuple[int, ...] = ()) -> Wealth:
    """An account spread over arms and losses, (..., arms, losses)."""
    return Wealth(np.tile((1 - _LATER) * _OF_LOSSES / num_arms, (num_arms, 1)), _FIRST, shape)


def ratio_factors(played: Array, propensities: Array) -> Array:
    """What bets on the loss of arms become when an exposure is seen, (..., arms, losses).

    `played` is 1 for the arm that was played and 0 for others, `propensities` are 0 for arms that
    were not offered.  If a share d of an arm's exposures is lost, those that are seen are of this
    arm with the chance p (1 - d) / (1 - p d), in place of p.  A bet becomes the ratio of the two.
    """
    lost = played[..., None] * LOSSES
    factors: Array = (1 - lost) / (1 - propensities[..., None] * LOSSES)
    return factors


class SampleRatio:
    """Bets that exposures of some arm are missing, among those that are seen.

    The arm of each exposure was drawn with its logged propensities, whatever these were.  If it
    does not depend on the arm whether an exposure is seen, no bet gains on average.
    """

    def __init__(self, arms: Sequence[Name] = ()) -> None:
        self.arms: list[Name] = []
        self.seen: list[int] = []
        """How often each arm was seen to be played."""
        self.expected: list[float] = []
        """The sum of its propensities."""
        self._wealth: Wealth | None = None
        self._later = _LATER
        self._meet(arms)

    @property
    def count(self) -> int:
        """How many exposures were seen."""
        return 0 if self._wealth is None else self._wealth.count

    @property
    def evidence(self) -> float:
        """The wealth: 1 / alpha of it says that exposures are missing."""
        return 1.0 if self._wealth is None else float(self._wealth.total) + self._later

    def add(self, arm: Name, offered: Sequence[Name], propensities: Sequence[float]) -> None:
        """An exposure was seen: its arm, and how likely each arm was that was offered."""
        self._meet(offered)
        assert self._wealth is not None
        played, chances = np.zeros(len(self.arms)), np.zeros(len(self.arms))
        for name, chance in zip(offered, propensities, strict=True):
            place = self.arms.index(name)
            chances[place] = chance
            self.expected[place] += chance
        place = self.arms.index(arm)
        played[place] = 1.0
        self.seen[place] += 1
        self._wealth.grow(ratio_factors(played, chances))

    def _meet(self, offered: Sequence[Name]) -> None:
        new = [name for name in offered if name not in self.arms]
        if not new:
            return
        self.arms += new
        self.seen += [0] * len(new)
        self.expected += [0.0] * len(new)
        if self._wealth is None:
            self._wealth = ratio_wealth(len(new))
            return
        spent, self._later = self._later / 2, self._later / 2
        self._wealth.add_bets(np.tile(spent * _OF_LOSSES / len(new), (len(new), 1)))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        wealth = None if self._wealth is None else self._wealth.to_dict()
        return {
            "arms": list(self.arms),
            "seen": list(self.seen),
            "expected": list(self.expected),
            "later": self._later,
            "wealth": wealth,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SampleRatio":
        """What `to_dict` gave."""
        ratio = cls()
        ratio.arms, ratio.seen = list(data["arms"]), list(data["seen"])
        ratio.expected, ratio._later = list(data["expected"]), float(data["later"])
        if data["wealth"] is not None:
            ratio._wealth = ratio_wealth(len(ratio.arms))
            ratio._wealth.restore(data["wealth"])
        return ratio
