"""Whether the mean of a bounded metric is above a bound, judged while its values come."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hierbandits.service.wealth import Array, Wealth

_SHARES = 0.9 * 0.5 ** np.arange(16.0)  # of what a bet may lose at most, by value
_WEIGHTS = np.full(_SHARES.size, 1 / _SHARES.size)
_FIRST = 0.5


class BoundedMean:
    """Bets that values in [0, 1] are larger than `bound` on average.

    A bet of share r becomes 1 + r (y / bound - 1) with each value y, which is 1 or less on average
    if the mean of y, given all values before, is `bound` or less; and 1 - r or more always
    (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting").
    Nothing else is assumed of the values: no shape, no variance, no independence.
    """

    def __init__(self, bound: float | Array, shape: tuple[int, ...] = ()) -> None:
        self._bound = bound
        self._wealth = Wealth(_WEIGHTS, _FIRST, shape)
        self.sum: Any = 0.0

    @property
    def count(self) -> int:
        """How many values have come."""
        return self._wealth.count

    @property
    def evidence(self) -> Any:
        """The wealth: 1 / alpha of it says that the mean is above the bound."""
        return self._wealth.total

    def add(self, value: float | Array) -> None:
        """One more value, or one of each of a batch."""
        excess = np.asarray(value) / self._bound - 1
        self._wealth.grow(1 + _SHARES * excess[..., None])
        self.sum = self.sum + value

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"sum": float(self.sum), "wealth": self._wealth.to_dict()}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Be as `to_dict` said."""
        self.sum = float(data["sum"])
        self._wealth.restore(data["wealth"])
