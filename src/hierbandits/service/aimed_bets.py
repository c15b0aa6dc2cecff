"""Bets on lost exposures that are as large as it takes to reach a goal in time."""

from collections.abc import Mapping
from math import pi, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtri

from hierbandits.service.wealth import Array

DEADLINES = np.array([22_000.0, 44_000.0])
"""How much may be learned of an arm until each bet must have reached its goal.

An exposure that was of the arm with chance p teaches p (1 - p).  In 200,000 exposures of three
even arms that adds up to 44,000 for each; the loss of 2 % is then 4.2 standard deviations.
"""
_LARGEST = 0.2  # of the money is at risk in one exposure at most
_LEAST = 1e-30  # of the goal: a bet that has less will never reach it
_EVERY = 10  # exposures after which the shares that are bet are looked at again


class AimedBets:
    """Bets that an arm's exposures are missing, one for each arm and deadline.

    If an arm has the chance p, a bet of share r becomes 1 + r (p - 1) when the arm is seen, and
    1 + r p when another is: 1 on average, whatever r is.  Here r is what makes it most probable to
    reach the goal by the deadline: with the part w of the goal, and v left to learn, it is
    phi(z) / (w sqrt(v)) with Phi(z) = w (Browne 1999, "Reaching goals by a deadline: digital
    options and continuous-time active portfolio management").
    """

    def __init__(self, weights: Array, shape: tuple[int, ...] = ()) -> None:
        arms = weights.shape  # (arms, deadlines)
        self._money = np.broadcast_to(weights, shape + arms).copy()
        self._left = np.broadcast_to(DEADLINES, shape + arms).copy()
        self._shares = np.zeros(shape + arms)
        self._count = 0

    @property
    def total(self) -> Any:
        """The whole wealth; a number, or one for each of a batch."""
        return self._money.sum(axis=(-2, -1))

    def grow(self, played: Array, propensities: Array, goal: Any) -> None:
        """An exposure was seen; `goal` is what all bets together must reach."""
        if self._count % _EVERY == 0:
            self._aim(goal)
        self._count += 1
        chance = propensities[..., None]
        self._money *= 1 + self._shares * (chance - played[..., None])
        self._left -= chance * (1 - chance)

    def _aim(self, goal: Any) -> None:
        """Choose the shares that are bet."""
        missing = np.asarray(goal - self.total)[..., None, None] + self._money
        part = np.clip(self._money / np.maximum(missing, _LEAST), _LEAST, 1 - 1e-12)
        quantile = ndtri(part)
        left = np.maximum(self._left, 1e-9)
        shares = np.exp(-(quantile**2) / 2) / sqrt(2 * pi) / (part * np.sqrt(left))
        self._shares = np.where(self._left > 0, np.minimum(shares, _LARGEST), 0.0)

    def add_arms(self, weights: Array) -> None:
        """Bets on more arms, (arms, deadlines), with money that was not in the account."""
        self._money = np.concatenate([self._money, weights])
        left = np.broadcast_to(DEADLINES, weights.shape)
        self._left = np.concatenate([self._left, left])
        self._shares = np.concatenate([self._shares, np.zeros(weights.shape)])

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        columns = {"money": self._money, "left": self._left, "shares": self._shares}
        return {"count": self._count, **{name: rows.tolist() for name, rows in columns.items()}}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Be as `to_dict` said."""
        self._money = np.array(data["money"], float)
        self._left = np.array(data["left"], float)
        self._shares = np.array(data["shares"], float)
        self._count = int(data["count"])
