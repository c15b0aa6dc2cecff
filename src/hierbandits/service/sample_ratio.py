"""Whether the arms that were seen to be played are those that the propensities promised."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hierbandits.service.aimed_bets import AimedBets
from hierbandits.service.wealth import Array, Wealth
from hierbandits.types import Name

LOSSES = np.array([0.02, 0.06, 0.2, 0.7])
"""The shares of an arm's exposures that bets suppose to be lost."""
_OF_LOSSES = np.array([0.1, 0.02, 0.01, 0.01])
_OF_DEADLINES = np.array([0.04, 0.56])
_FIRST = 0.9
_LATER = 0.01  # of the account is kept for arms that come later
_KEPT = 0.25
"""The share of the account that is never bet; all these shares add up to 1.

So the chance of a false alarm is at most 1 - _KEPT of what is stated.
"""
_ACCOUNT = 2  # the first one kept 0.03


def ratio_factors(played: Array, propensities: Array) -> Array:
    """What bets on the loss of arms become when an exposure is seen, (..., arms, losses).

    `played` is 1 for the arm that was played and 0 for others, `propensities` are 0 for arms that
    were not offered.  If a share d of an arm's exposures is lost, those that are seen are of this
    arm with the chance p (1 - d) / (1 - p d), in place of p.  A bet becomes the ratio of the two.
    """
    lost = played[..., None] * LOSSES
    factors: Array = (1 - lost) / (1 - propensities[..., None] * LOSSES)
    return factors


class RatioBets:
    """An account of bets on the loss of each of some arms, of one policy or a batch of them.

    Some bets suppose a loss, and grow as fast as they can if it is so.  Others aim at the alarm
    by a deadline: they find small losses more often, but hardly before.
    """

    def __init__(self, num_arms: int, goal: float, shape: tuple[int, ...] = ()) -> None:
        self._goal = goal
        self._steady = Wealth(np.tile(_OF_LOSSES / num_arms, (num_arms, 1)), _FIRST, shape)
        self._aimed = AimedBets(np.tile(_OF_DEADLINES / num_arms, (num_arms, 1)), shape)
        self._later = _LATER
        self.count = 0

    @property
    def total(self) -> Any:
        """The whole wealth; a number, or one for each of a batch."""
        return self._steady.total + self._aimed.total + self._later + _KEPT

    def see(self, played: Array, propensities: Array) -> None:
        """An exposure, or one of each of a batch."""
        self.count += 1
        others = self._steady.total + self._later + _KEPT
        self._aimed.grow(played, propensities, self._goal - others)
        self._steady.grow(ratio_factors(played, propensities))

    def add_arms(self, number: int) -> None:
        """Bet on more arms, with half of what is left for them."""
        spent, self._later = self._later / 2, self._later / 2
        of_losses, of_deadlines = _OF_LOSSES, _OF_DEADLINES
        part = spent / (of_losses.sum() + of_deadlines.sum()) / number
        self._steady.add_bets(np.tile(part * of_losses, (number, 1)))
        self._aimed.add_arms(np.tile(part * of_deadlines, (number, 1)))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "account": _ACCOUNT,
            "count": self.count,
            "later": self._later,
            "steady": self._steady.to_dict(),
            "aimed": self._aimed.to_dict(),
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Be as `to_dict` said; a ValueError if that was of another account."""
        if data.get("account") != _ACCOUNT:
            raise ValueError(f"account must be {_ACCOUNT}, got {data.get('account')}")
        self.count, self._later = int(data["count"]), float(data["later"])
        self._steady.restore(data["steady"])
        self._aimed.restore(data["aimed"])


class SampleRatio:
    """Bets that exposures of some arm are missing, among those that are seen.

    The arm of each exposure was drawn with its logged propensities, whatever these were.  If it
    does not depend on the arm whether an exposure is seen, no bet gains on average: the chance
    that the evidence ever reaches `goal` is at most 1 / goal, and less by what is never bet.
    """

    def __init__(self, goal: float, arms: Sequence[Name] = ()) -> None:
        self._goal = goal
        self.arms: list[Name] = []
        self.seen: list[int] = []
        """How often each arm was seen to be played."""
        self.expected: list[float] = []
        """The sum of its propensities."""
        self._bets: RatioBets | None = None
        self._meet(arms)

    @property
    def count(self) -> int:
        """How many exposures were seen."""
        return 0 if self._bets is None else self._bets.count

    @property
    def evidence(self) -> float:
        """The wealth."""
        return 1.0 if self._bets is None else float(self._bets.total)

    @property
    def is_off(self) -> bool:
        """Whether exposures are missing."""
        return self.evidence >= self._goal

    def add(self, arm: Name, offered: Sequence[Name], propensities: Sequence[float]) -> None:
        """An exposure was seen: its arm, and how likely each arm was that was offered."""
        self._meet(offered)
        assert self._bets is not None
        played, chances = np.zeros(len(self.arms)), np.zeros(len(self.arms))
        for name, chance in zip(offered, propensities, strict=True):
            place = self.arms.index(name)
            chances[place] = chance
            self.expected[place] += chance
        place = self.arms.index(arm)
        played[place] = 1.0
        self.seen[place] += 1
        self._bets.see(played, chances)

    def _meet(self, offered: Sequence[Name]) -> None:
        new = [name for name in offered if name not in self.arms]
        if not new:
            return
        self.arms += new
        self.seen += [0] * len(new)
        self.expected += [0.0] * len(new)
        if self._bets is None:
            self._bets = RatioBets(len(new), self._goal)
        else:
            self._bets.add_arms(len(new))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "arms": list(self.arms),
            "seen": list(self.seen),
            "expected": list(self.expected),
            "bets": None if self._bets is None else self._bets.to_dict(),
        }

    @classmethod
    def from_dict(cls, goal: float, data: Mapping[str, Any]) -> "SampleRatio":
        """What `to_dict` gave."""
        ratio = cls(goal)
        ratio.arms, ratio.seen = list(data["arms"]), list(data["seen"])
        ratio.expected = list(data["expected"])
        if data["bets"] is not None:
            ratio._bets = RatioBets(len(ratio.arms), goal)
            ratio._bets.restore(data["bets"])
        return ratio
