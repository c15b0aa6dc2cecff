"""What a simulation keeps of its rounds: a thinned curve, and the variances of what was played."""

import numpy as np

from hierbandits.types import Indices, Matrix, Vector


class Curve:
    """Cumulative regret at no more than twice `points` evenly spaced rounds, and at the last."""

    def __init__(self, points: int) -> None:
        self._points = points
        self._stride = 1
        self._rounds: list[int] = []
        self._values: list[Vector] = []

    def add(self, rounds: int, regret: Vector) -> None:
        """Keep the regret after so many rounds, if it is their turn."""
        if rounds % self._stride == 0:
            self._rounds.append(rounds)
            self._values.append(regret.copy())
        if len(self._rounds) == 2 * self._points:
            self._stride *= 2
            self._rounds, self._values = self._rounds[1::2], self._values[1::2]

    def finished(self, rounds: int, regret: Vector) -> tuple[Indices, Matrix]:
        """The rounds kept, (points,), and the values of every run, (runs, points)."""
        if not self._rounds or self._rounds[-1] != rounds:
            self._rounds.append(rounds)
            self._values.append(regret.copy())
        return np.array(self._rounds), np.stack(self._values, axis=1)
