"""The data's own scale: every fit works where rewards and parameters are of size one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.algebra import times
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import LARGEST, state_array
from hierbandits.types import Indices, Matrix, Vector

_MOST_TASKS = 1000  # that say how large the noise may be
_RANK = 1e-10  # relative eigenvalues below this are rounding
_LOST = 1e-13  # of the mean square: sums of squares have no more digits

WIDE = 100.0
"""The default hyper-width of one population.

In root mean square rewards per unit of the feature.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Rewards are `reward` * y' and parameters `centre` + `parameter` * theta'.

    `reward` is the root mean square residual of one least-squares fit to all tasks together (at
    least 1e-5 of the root mean square reward, below which sums of squares are rounding), and
    `parameter[j]` is `reward` over the root mean square of feature j (in the armed form, `reward`
    itself; for a scalar structure, over the root mean square norm of the features).
    """

    reward: float
    centre: Vector  # the pooled fit, (d,)
    parameter: Vector  # (d,)
    wide: Vector  # the default hyper-width of one population, (d,)
    lost: float = 0.0  # a variance of y' that sums of squares do not keep

    @classmethod
    def of(cls, sums: TaskSums, *, isotropic: bool) -> "Units":
        """The units of a log."""
        num_events, dim = float(sums.n.sum()), sums.xy.shape[1]
        xx, xy, yy = sums.xx.sum(0), sums.xy.sum(0), float(sums.yy.sum())
        ones = np.ones(dim)
        if num_events == 0:
            return cls(1.0, np.zeros(dim), ones, WIDE * ones)
        mean_squares = sums.feature_mean_squares()
        centre = _least_squares(xx, xy, mean_squares * num_events)
        size = yy / num_events or 1.0
        left = (yy - 2 * centre @ xy + centre @ times(xx, centre)) / num_events
        reward = float(np.sqrt(max(left, 1e-10 * size, 1 / LARGEST)))
        if sums.is_armed:
            parameter = reward * ones
        elif isotropic:
            parameter = reward / np.sqrt(mean_squares.sum()) * ones
        else:
            parameter = reward / np.sqrt(mean_squares)
        wide, lost = WIDE * np.sqrt(size / mean_squares), _LOST * size / reward**2
        return cls(reward, centre, parameter, wide, lost)

    def scaled(self, sums: TaskSums, rows: Indices) -> TaskSums:
        """The sums of these tasks, in these units and about the pooled fit."""
        xx, xy, yy = sums.xx[rows], sums.xy[rows], sums.yy[rows]
        fitted = times(xx, np.broadcast_to(self.centre, xy.shape))
        yy = np.maximum(yy - (2 * xy - fitted) @ self.centre, 0.0) / self.reward**2
        xy = (xy - fitted) * self.parameter / self.reward**2
        scale = self.parameter**2 if sums.is_armed else np.outer(self.parameter, self.parameter)
        return TaskSums(xx * scale / self.reward**2, xy, yy, sums.n[rows])

    def scaled_squares(self, sums: TaskSums, squares: Matrix) -> Vector:
        """The squares of each arm's rewards, (K,), of those by task, (tasks, K), in these units."""
        about = squares - self.centre * (2 * sums.xy - self.centre * sums.xx)
        scaled: Vector = np.maximum(about.sum(0), 0.0) / self.reward**2
        return scaled

    def cov_in(self, cov: Matrix) -> Matrix:
        """A covariance of parameters in these units."""
        scale = self.parameter if cov.ndim == 1 else self.parameter[:, None]
        return cov / scale / self.parameter

    def cov_out(self, cov: Matrix) -> Matrix:
        """A covariance in these units, back in the log's."""
        scale = self.parameter if cov.ndim == 1 else self.parameter[:, None]
        return cov * scale * self.parameter


def noise_scale(sums: TaskSums, least: float = 0.0) -> float:
    """The variance of rewards about the fits of their own tasks, of sums in units; 1 at most.

    Tasks may be much further apart than rewards of one task, and then 1 is far off.  What few
    rewards that repeat say of it counts less: f of them have the weight f / (f + 1) in its log.
    What is not above `least` says nothing: see `Units.lost`.
    """
    rows = np.argsort(-sums.n, kind="stable")[:_MOST_TASKS]
    xx, xy, yy, n = sums.xx[rows], sums.xy[rows], sums.yy[rows], sums.n[rows]
    if sums.is_armed:
        seen = xx > 0
        along = xy / np.sqrt(np.where(seen, xx, 1.0))
    else:
        values, vectors = np.linalg.eigh(xx)
        seen = values > _RANK * np.maximum(values[:, -1:], 1e-300)
        along = np.einsum("sij,si->sj", vectors, xy) / np.sqrt(np.where(seen, values, 1.0))
    freedom = float((n - seen.sum(1)).clip(0.0).sum())
    if freedom == 0:
        return 1.0
    left = float(yy.sum() - (along**2 * seen).sum()) / freedom
    return 1.0 if left <= least else float(min(left, 1.0) ** (freedom / (freedom + 1)))


def checked_sums(sums: TaskSums) -> TaskSums:
    """The sums, checked: finite, and with counts and squares that are not negative."""
    if not isinstance(sums, TaskSums):
        raise ValueError(f"sums must be TaskSums, got {sums!r:.80}")
    sums.check_finite()
    for name in ("yy", "n"):
        least = getattr(sums, name).min(initial=0.0)
        if least < 0:
            raise ValueError(f"sums.{name} must not be negative, got {least}")
    return sums


def checked_squares(squares: ArrayLike, sums: TaskSums, noise_std: float | None) -> Matrix:
    """The squares of each task's and arm's rewards, which must go with the sums."""
    if not sums.is_armed:
        raise ValueError("squares must be given for arms alone, got sums of features")
    if noise_std is not None:
        raise ValueError(f"squares must not be given with a noise_std, got {noise_std!r:.80}")
    checked = state_array("squares", np.asarray(squares, float), sums.xy.shape)
    total, of_tasks = checked.sum(1), sums.yy
    wrong = (checked < 0).any(1) | (np.abs(total - of_tasks) > 1e-6 * np.maximum(total, of_tasks))
    if wrong.any():
        task = int(wrong.argmax())
        raise ValueError(
            f"squares must add up to sums.yy, got {total[task]:g} and {of_tasks[task]:g} for the "
            f"task {task}"
        )
    return checked


def _least_squares(xx: Matrix, xy: Vector, size: Vector) -> Vector:
    """One fit to all tasks together, with a ridge of 1e-9 of each feature's square."""
    fitted: Vector
    if xx.ndim == 1:
        fitted = xy / np.maximum(xx, 1e-9 * size)
        return fitted
    root = np.sqrt(size)
    inner = xx / root / root[:, None] + 1e-9 * np.eye(len(root))
    fitted = np.linalg.solve(inner, xy / root) / root
    return fitted
