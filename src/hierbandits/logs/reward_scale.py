"""The mean and the spread of a log's rewards, and whether sums of their squares can tell it."""

import numpy as np

from hierbandits.types import Vector

LEAST = 1e-4
"""The least standard deviation of rewards, over their mean: sums of squares lose a smaller one."""


class Spread:
    """Mean and variance of rewards that come in batches, by Chan's rule: nothing cancels."""

    def __init__(self) -> None:
        self.count, self.mean = 0, 0.0
        self._square = 0.0  # the sum of squares about the mean
        self._low, self._high = np.inf, -np.inf

    @property
    def std(self) -> float:
        """The standard deviation; 0 of nothing."""
        return float(np.sqrt(self._square / max(self.count, 1)))

    def add(self, rewards: Vector) -> None:
        """Add a batch."""
        count = self.count + rewards.size
        mean = float(rewards.mean())
        apart = mean - self.mean
        self._square += float(((rewards - mean) ** 2).sum())
        self._square += apart**2 * self.count * rewards.size / count
        self.mean += apart * rewards.size / count
        self.count = count
        self._low = min(self._low, float(rewards.min()))
        self._high = max(self._high, float(rewards.max()))

    def check(self) -> None:
        """Refuse rewards whose spread is lost in their sums of squares; equal ones lose nothing."""
        if self._low < self._high and self.std < LEAST * abs(self.mean):
            raise ValueError(
                f"reward must have a standard deviation of at least {LEAST:g} of its mean, got "
                f"{self.std:.3g} about {self.mean:.6g}, which sums of squares do not tell: "
                "subtract a constant from all rewards first, such as their mean"
            )
