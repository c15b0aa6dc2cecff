"""The regret of a simulation over its rounds, thinned to few points."""

import numpy as np

from hierbandits.types import Indices, Matrix, Vector


class RegretCurve:
    """Cumulative regret at evenly spaced rounds, fewer than 2 `points` of them, and at the last.

    The number of rounds is not known beforehand.  So every round is kept at first; whenever
    2 `points` rounds are kept, every other one is dropped and half as many are kept from then on.
    """

    def __init__(self, points: int) -> None:
        self._points = points
        self._stride = 1
        self._rounds: list[int] = []
        self._values: list[Vector] = []

    def add(self, rounds: int, regret: Vector) -> None:
        """Keep the regret of each run after so many rounds, if the curve has a point there."""
        if rounds % self._stride == 0:
            self._keep(rounds, regret)
        if len(self._rounds) == 2 * self._points:
            self._stride *= 2
            self._rounds, self._values = self._rounds[1::2], self._values[1::2]

    def finished(self, rounds: int, regret: Vector) -> tuple[Indices, Matrix]:
        """The rounds kept, (points,), and the regret of every run at each, (runs, points)."""
        if not self._rounds or self._rounds[-1] != rounds:
            self._keep(rounds, regret)
        return np.array(self._rounds), np.stack(self._values, axis=1)

    def _keep(self, rounds: int, regret: Vector) -> None:
        self._rounds.append(rounds)
        self._values.append(regret.copy())
