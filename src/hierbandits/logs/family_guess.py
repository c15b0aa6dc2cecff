"""Which family the rewards of a log look like."""

import numpy as np

from hierbandits.types import Vector

_WORDS = {
    "bernoulli": "Rewards are 0 and 1. If they are clicks or the like",
    "poisson": "Rewards are whole numbers. If they are counts",
}


class FamilyGuess:
    """Looks at all rewards, batch by batch: only 0 and 1, whole numbers from 0 on, or any."""

    def __init__(self) -> None:
        self._binary = self._whole = True

    def add(self, rewards: Vector) -> None:
        """Look at more rewards."""
        if self._whole:
            self._whole = bool(((rewards >= 0) & (rewards == np.round(rewards))).all())
            self._binary = self._binary and bool((rewards <= 1).all() and self._whole)

    @property
    def name(self) -> str | None:
        """The name of the family; None if rewards may be any numbers."""
        if not self._whole:
            return None
        return "bernoulli" if self._binary else "poisson"

    @property
    def proposal(self) -> str | None:
        """What to tell people who named no family."""
        if self.name is None:
            return None
        return (
            f"{_WORDS[self.name]}, say so: rewards={self.name!r} (--rewards {self.name}) gives "
            "widths and intervals that are right for them."
        )
