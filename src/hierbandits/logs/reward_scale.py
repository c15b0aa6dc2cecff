"""The mean and the standard deviation of a log's rewards, and whether sums of squares keep them."""

import numpy as np

from hierbandits.types import Vector

LEAST_STD = 1e-4
"""The least std of rewards, relative to their mean.

Sums of squares lose a smaller one to rounding.
"""


class RewardScale:
    """The mean and variance of rewards that come in batches, by Chan's rule: nothing cancels."""

    def __init__(self) -> None:
        self.count, self.mean = 0, 0.0
        self._square = 0.0  # the sum of squares about the mean
        self._values: Vector = np.empty(0)  # some of the distinct rewards, at most three

    @property
    def std(self) -> float:
        """The standard deviation; 0 before the first reward."""
        return float(np.sqrt(self._square / max(self.count, 1)))

    @property
    def num_values(self) -> int:
        """How many distinct rewards there are: 0, 1, 2, or 3 for three and more."""
        return self._values.size

    def add(self, rewards: Vector) -> None:
        """Add a batch."""
        count = self.count + rewards.size
        mean = float(rewards.mean())
        apart = mean - self.mean
        self._square += float(((rewards - mean) ** 2).sum())
        self._square += apart**2 * self.count * rewards.size / count
        self.mean += apart * rewards.size / count
        self.count = count
        if self.num_values < 3:
            new = np.unique(rewards[~np.isin(rewards, self._values)])
            self._values = np.append(self._values, new)[:3]

    def check(self) -> None:
        """Raise an error if sums of squares would lose the variance beside a large mean.

        Equal rewards have nothing to lose.
        """
        if self.num_values > 1 and self.std < LEAST_STD * abs(self.mean):
            raise ValueError(
                f"reward must have a standard deviation of at least {LEAST_STD:g} of its mean, got "
                f"{self.std:.3g} about {self.mean:.6g}, which sums of squares would lose to "
                "rounding: subtract a constant from all rewards first, such as their mean"
            )
