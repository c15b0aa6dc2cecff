"""Units in which the rewards and the features of some tasks have size one."""

from dataclasses import dataclass

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Matrix, Vector

LEAST_UNIT, LARGEST_UNIT = 1e-20, 1e20
"""Of rewards and of parameters: beyond them, widths could not be squared and stated."""

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
            reward = _size(count, float(sums.xy.sum()) ** 2 / count, square)
            return cls(reward, np.ones(dim), np.zeros(dim), None)
        squares = np.diagonal(sums.xx, axis1=1, axis2=2) / sums.n[:, None]
        least, most = squares.min(0), squares.max(0)
        constants = np.flatnonzero((most > 0) & (most - least <= _SAME * most))
        mean = sums.xx.sum(0) / count
        size = np.diagonal(mean).copy()
        if not constants.size:
            reward = _size(count, 0.0, square)
            return cls(reward, _scale(reward, size, size), np.zeros(dim), None)
        # Features of -1 and 1 have constant squares too, and tell less about the others.
        tied = mean[:, constants] ** 2 / np.where(size > 0, size, 1.0)[:, None] / size[constants]
        c = int(constants[np.argmax(tied.sum(0))])
        slope = mean[:, c] / size[c]
        slope[c] = 0.0
        along = float(sums.xy[:, c].sum()) ** 2 / (count * size[c])
        reward = _size(count, along, square)
        return cls(reward, _scale(reward, size - slope**2 * size[c], size), slope, c)

    @property
    def map(self) -> Matrix:
        """T with z = T x, (d, d)."""
        centred: Matrix = self.scale[:, None] * self._plus_slope(-1.0)
        return centred

    @property
    def inverse_map(self) -> Matrix:
        """T^-1, (d, d)."""
        raw: Matrix = self._plus_slope(1.0) / self.scale
        return raw

    def _plus_slope(self, sign: float) -> Matrix:
        plain = np.eye(self.scale.size)
        if self.constant is not None:
            plain[:, self.constant] += sign * self.slope
        return plain

    def scaled(self, sums: TaskSums) -> TaskSums:
        """The sums in these units."""
        if sums.is_armed:
            return TaskSums(sums.xx, sums.xy / self.reward, sums.yy / self.reward**2, sums.n)
        turn = self.map
        xx, xy = turn @ sums.xx @ turn.T, sums.xy @ turn.T / self.reward
        return TaskSums(xx, xy, sums.yy / self.reward**2, sums.n)

    def mean_in(self, mean: Vector) -> Vector:
        """A parameter in these units."""
        inside: Vector = mean @ self.inverse_map / self.reward
        return inside

    def cov_in(self, cov: Matrix) -> Matrix:
        """A covariance of parameters in these units."""
        if cov.ndim == 1:
            return cov / self.reward**2
        back = self.inverse_map / self.reward
        return _even(back.T @ cov @ back)

    def cov_out(self, cov: Matrix) -> Matrix:
        """A covariance of parameters in these units, back in their own."""
        if cov.ndim == 1:
            return cov * self.reward**2
        turn = self.map * self.reward
        return _even(turn.T @ cov @ turn)


def _size(count: float, along: float, square: float) -> float:
    """The root mean square of rewards about what their mean explains; if few, of all."""
    left = square - along if count > 2 else square
    size = float(np.sqrt(max(left, 1e-6 * square) / count))
    return min(max(size, LEAST_UNIT), LARGEST_UNIT) if size > 0 else 1.0


def _scale(reward: float, spread: Vector, size: Vector) -> Vector:
    """1 / the root of each feature's mean square, which is one where nothing was seen."""
    kept = np.where(spread > _LEAST**2 * size, spread, size)
    inverse: Vector = 1 / np.sqrt(np.where(kept > 0, kept, 1.0))
    return np.clip(inverse, LEAST_UNIT / reward, LARGEST_UNIT / reward)


def _even(cov: Matrix) -> Matrix:
    return (cov + cov.T) / 2
