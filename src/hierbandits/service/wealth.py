"""Evidence that may be looked at all the time: the wealth of bets against what is supposed."""

from collections.abc import Mapping
from math import log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_MOST = 1e100


class Wealth:
    """What an account of 1 has become that was spread over bets, each at odds that are fair.

    If what is supposed is true, no bet gains on average, whatever happened before.  So the chance
    that the wealth ever reaches 1 / alpha is at most alpha (Ville 1939; Ramdas et al. 2023, "Game-
    theoretic statistics and safe anytime-valid inference").  The share `first` is bet from the
    beginning.  The rest is bet bit by bit, later and later, so that a fault which begins late is
    found soon: after n steps 1 / (1 + log(1 + n)) of it is left.
    """

    def __init__(self, weights: Array, first: float, shape: tuple[int, ...] = ()) -> None:
        self._weights = weights  # (bets,), or a table of bets; they add up to 1 or less
        self._first = first
        self.count = 0
        self._bets = np.broadcast_to(first * weights, shape + weights.shape).copy()

    def grow(self, factors: Array) -> None:
        """One more step: what each unit that is bet becomes, (..., bets)."""
        begun = _waiting(self.count) - _waiting(self.count + 1)
        self.count += 1
        self._bets += (1 - self._first) * begun * self._weights
        self._bets *= factors
        np.minimum(self._bets, _MOST, out=self._bets)  # less than it is worth is safe

    @property
    def total(self) -> Any:
        """The whole wealth; a number, or one for each of a batch."""
        axes = tuple(range(-self._weights.ndim, 0))
        later = (1 - self._first) * float(self._weights.sum())
        return self._bets.sum(axis=axes) + later * _waiting(self.count)

    def add_bets(self, weights: Array) -> None:
        """More bets, all of which begin now, with money that was not in the account."""
        self._weights = np.concatenate([self._weights, np.zeros_like(weights)])
        self._bets = np.concatenate([self._bets, weights])

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"count": self.count, "weights": self._weights.tolist(), "bets": self._bets.tolist()}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Be as `to_dict` said."""
        self.count = int(data["count"])
        self._weights = np.array(data["weights"], float)
        self._bets = np.array(data["bets"], float)


def _waiting(steps: int) -> float:
    """The share of what is bet later that is not bet yet."""
    return 1 / (1 + log1p(steps))
