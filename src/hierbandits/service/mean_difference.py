"""Whether the mean of a bounded metric is above that of the control by more than a margin."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hierbandits.service.bounded_mean import BoundedMean

_ODDS = np.exp(np.linspace(np.log(1e-4), np.log(1e4), 200))
_EDGES = np.concatenate([[0.0], _ODDS / (1 + _ODDS), [1.0]])  # means that the control may have


class MeanDifference:
    """Bets on values in [0, 1] of a policy and of its control, whose means nobody knows.

    If the control's mean is m, and the policy's is m + margin or less, no bet gains on average
    that the policy's is above m + margin, or that the control's is below m; nor does their
    product.  What counts is the least product over all m: that of cells of m, each with the worse
    of its ends.
    """

    def __init__(self, margin: float) -> None:
        cells = _EDGES.size - 1
        bounds, rest = np.minimum(_EDGES[1:] + margin, 1.0), 1 - _EDGES[:-1]
        self._is_sure = bounds >= 1, rest >= 1  # no mean is beyond these
        self.policy = BoundedMean(bounds, (cells,))
        self.control = BoundedMean(rest, (cells,))

    @property
    def evidence(self) -> float:
        """The wealth: 1 / alpha of it says that the difference is above the margin."""
        above = np.where(self._is_sure[0], 1.0, self.policy.evidence)
        below = np.where(self._is_sure[1], 1.0, self.control.evidence)
        return float((above * below).min())

    def add(self, value: float, *, is_control: bool) -> None:
        """One more value."""
        if is_control:
            self.control.add(1 - value)
        else:
            self.policy.add(value)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"policy": self.policy.to_dict(), "control": self.control.to_dict()}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Be as `to_dict` said."""
        self.policy.restore(data["policy"])
        self.control.restore(data["control"])
