"""Units in which the rewards and the features of some tasks have size one."""

from dataclasses import dataclass

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Matrix, Vector

_SAME = 1e-9  # a relative difference that is rounding
_LEAST = 1e-6  # of a feature's spread, in units of its size


@dataclass(frozen=True, slots=True, eq=False)
class StandardUnits:
    """Rewards are `reward` * y', features T^-1 z and parameters `reward` * T' theta'.

    Features are scaled to a root mean square of one.  Where one of them is constant, the others are
    centred: with raw ages or prices, a task's level and its slopes would else be tied.
    """

    reward: float
    scale: Vector  # 1 / the root mean square of each feature, centred, (d,)
    slope: Vector  # of each feature on the constant one, (d,); zero without one
    constant: int | None  # the constant feature

    @classmethod
    def of(cls, sums: TaskSums) -> "StandardUnits":
        """Those of the sums of tasks, each with rewards."""
        count, square = float(sums.n.sum()), float(sums.yy.sum())
        dim = sums.xy.shape[1]
        if sums.is_armed:
            total = float(sums.xy.sum())
            ones = np.ones(dim)
            return cls(_size(count, total**2 / count, square), ones, np.zeros(dim), None)
        squares = np.diagonal(sums.xx, axis1=1, axis2=2) / sums.n[:, None]
        least, most = squares.min(0), squares.max(0)
        constants = np.flatnonzero((most > 0) & (most - least <= _SAME * most))
        mean = sums.xx.sum(0) / count
        size = np.diagonal(mean).copy()
        if not constants.size:
            return cls(_size(count, 0.0, square), _inverse_root(size, size), np.zeros(dim), None)
        c = int(constants[0])
        slope = mean[:, c] / size[c]
        slope[c] = 0.0
        spread = size - slope**2 * size[c]
        along = float(sums.xy[:, c].sum()) ** 2 / (count * size[c])
        return cls(_size(count, along, square), _inverse_root(spread, size), slope, c)

    @property
    def map(self) -> Matrix:
        """T with z = T x, (d, d)."""
        plain = np.eye(self.scale.size)
        if self.constant is not None:
            plain[:, self.constant] -= self.slope
        turned: Matrix = self.scale[:, None] * plain
        return turned

    def scaled(self, sums: TaskSums) -> TaskSums:
        """The sums in these units."""
        if sums.is_armed:
            return TaskSums(sums.xx, sums.xy / self.reward, sums.yy / self.reward**2, sums.n)
        turn = self.map
        xx, xy = turn @ sums.xx @ turn.T, sums.xy @ turn.T / self.reward
        return TaskSums(xx, xy, sums.yy / self.reward**2, sums.n)

    def mean_in(self, mean: Vector) -> Vector:
        """A parameter in these units."""
        inside: Vector = np.linalg.solve(self.map.T, mean) / self.reward
        return inside

    def cov_in(self, cov: Matrix) -> Matrix:
        """A covariance of parameters in these units."""
        if cov.ndim == 1:
            return cov / self.reward**2
        back = np.linalg.inv(self.map) / self.reward
        return _even(back.T @ cov @ back)

    def cov_out(self, cov: Matrix) -> Matrix:
        """A covariance of parameters in these units, back in their own."""
        if cov.ndim == 1:
            return cov * self.reward**2
        turn = self.map * self.reward
        return _even(turn.T @ cov @ turn)


def _size(count: float, along: float, square: float) -> float:
    """The root mean square of rewards about what their mean explains; all of it, if they are few."""
    left = square - along if count > 2 else square
    size = float(np.sqrt(max(left, 1e-6 * square) / count))
    return size or 1.0


def _inverse_root(spread: Vector, size: Vector) -> Vector:
    """1 / the size of each feature, which is one where nothing was seen."""
    kept = np.where(spread > _LEAST**2 * size, spread, size)
    inverse: Vector = 1 / np.sqrt(np.where(kept > 0, kept, 1.0))
    return inverse


def _even(cov: Matrix) -> Matrix:
    return (cov + cov.T) / 2
