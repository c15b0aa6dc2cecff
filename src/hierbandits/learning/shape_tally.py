"""The skewness and the excess kurtosis of noise, from residuals of each task's own fit."""

import numpy as np

from hierbandits.types import Indices, Matrix, Vector

LEAST_WEIGHT, ENOUGH_WEIGHT = 20.0, 200.0  # rows' worth of knowledge: of all, and of one group
DOUBT = 1.0  # standard errors that an excess kurtosis may be larger by: few rows hide tails

_POWERS = (0, 2, 3, 4, 6, 8)


class ShapeTally:
    """Sums of powers of residuals, by group.

    A residual is r = sum_j M_j e_j over the rows of its task, where M_j is 1 - h for its own row.
    So its second, third and fourth cumulants are those of the noise, times sum_j M_j^2 = 1 - h,
    sum_j M_j^3 and sum_j M_j^4.  Residuals of few rows are more Gaussian than the noise is, and
    those of two rows are not skewed at all.
    """

    def __init__(self, num_groups: int, *, armed: bool) -> None:
        self._armed = armed
        self._powers = np.zeros((6, num_groups))  # of residuals
        self._weights = np.zeros((4, num_groups))  # sums of M^2, M^3, M^4, and (1 - h)^2

    def add(self, group: Indices, residual: Vector, leverage: Vector, rows: Vector) -> None:
        """Add residuals of leverage h, each of a task of so many rows."""
        h = np.clip(leverage, 0.0, 1.0)
        left = 1 - h
        third: Vector = left**3  # the squares of the others add up to h (1 - h)
        fourth: Vector = left**4 + (h * left) ** 2 / np.maximum(rows - 1, 1.0)
        if self._armed:  # h = 1 / n: the other n - 1 rows of the arm have M = -h
            third, fourth = left * (1 - 2 * h), left * (1 - 3 * h + 3 * h**2)
        size = self._powers.shape[1]
        for total, power in zip(self._powers, _POWERS, strict=True):
            total += np.bincount(group, residual**power, size)
        for total, weight in zip(self._weights, (left, third, fourth, left**2), strict=True):
            total += np.bincount(group, weight, size)

    def of_groups(self) -> tuple[Vector, Vector]:
        """The skewness and the excess kurtosis of each group; groups of few rows lean on all."""
        skewness, excess = _shape(self._powers, self._weights)
        of_all, most = self.of_all()
        few = self._weights[2] < ENOUGH_WEIGHT
        return np.where(few, of_all, skewness), np.where(few, np.maximum(excess, most), excess)

    def of_all(self) -> tuple[float, float]:
        """Of all groups together, each in units of its own noise; zeros if there are few rows."""
        if self._weights[2].sum() < LEAST_WEIGHT:
            return 0.0, 0.0
        square = self._powers[1]
        unit = np.sqrt(np.where(square > 0, square / np.maximum(self._weights[0], 1e-9), 1.0))
        powers = self._powers / unit ** np.array(_POWERS)[:, None]
        skewness, excess = _shape(powers.sum(1, keepdims=True), self._weights.sum(1, keepdims=True))
        return float(skewness[0]), float(excess[0])


def _shape(powers: Matrix, weights: Matrix) -> tuple[Vector, Vector]:
    """The skewness, and the excess kurtosis with DOUBT; zeros where there is no noise."""
    rows, square, cube, power, six, eight = powers
    left, third, fourth, left_square = weights
    var = np.where(square > 0, square, 1.0) / np.maximum(left, 1e-9)
    # The fourth cumulant is the mean of r^4 - 6 var r^2 + 3 var^2, and this the sum of its squares.
    luck = eight - 12 * var * six + 42 * var**2 * power - 36 * var**3 * square + 9 * var**4 * rows
    cumulant = power - 3 * var**2 * left_square + DOUBT * np.sqrt(np.maximum(luck, 0.0))
    skewness = cube / np.maximum(third, 1.0) / var**1.5
    excess = cumulant / np.maximum(fourth, 1.0) / var**2
    return np.where(square > 0, skewness, 0.0), np.where(square > 0, excess, 0.0)
