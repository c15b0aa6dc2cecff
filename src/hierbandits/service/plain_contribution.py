"""What tasks tell, by the paper's formula in long numbers: to compare with what workers store."""

import numpy as np

from hierbandits.beliefs.contribution import Contribution
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Matrix

_AT_ONCE = 1 << 20  # numbers in a table
_LONG = np.longdouble


class PlainContribution:
    """Adds up C = (I + A Sigma_0)^-1 A and b = (I + A Sigma_0)^-1 B over tasks.

    A = X'X / sigma^2 and B = X'y / sigma^2.  That is by elimination, and so in another way than a
    belief goes, which rotates rows.
    """

    def __init__(self, hierarchy: GaussianHierarchy) -> None:
        dim = hierarchy.dim
        self._cov = hierarchy.task_cov.astype(_LONG)
        self._noise_var = _LONG(hierarchy.noise_std) ** 2
        self._precision = np.zeros(self._cov.shape, _LONG)
        self._weighted = np.zeros(dim, _LONG)
        self._at_once = max(1, _AT_ONCE // (dim if self._cov.ndim == 1 else 3 * dim * dim))

    def add(self, sums: TaskSums) -> None:
        """More tasks."""
        for first in range(0, len(sums.n), self._at_once):
            self._add(sums.rows(slice(first, first + self._at_once)))

    def _add(self, sums: TaskSums) -> None:
        data = sums.xx.astype(_LONG) / self._noise_var
        weighted = sums.xy.astype(_LONG) / self._noise_var
        if self._cov.ndim == 1:
            left = 1 + data * self._cov
            self._precision += (data / left).sum(axis=0)
            self._weighted += (weighted / left).sum(axis=0)
            return
        one = np.eye(len(self._cov), dtype=_LONG)
        if data.ndim == 2:
            data = data[:, :, None] * one
        solved = _solved(one + data @ self._cov, np.concatenate([data, weighted[..., None]], 2))
        self._precision += solved[..., :-1].sum(axis=0)
        self._weighted += solved[..., -1].sum(axis=0)

    def told(self) -> Contribution:
        """What all tasks tell that were added."""
        precision = self._precision.astype(float)
        if precision.ndim == 2:
            precision = (precision + precision.T) / 2
        return Contribution(precision, self._weighted.astype(float))


def _solved(left: Matrix, right: Matrix) -> Matrix:
    """X with left X = right, for each task; numpy's own has no long numbers."""
    rows = np.concatenate([left, right], axis=2)
    number, dim = rows.shape[:2]
    every = np.arange(number)
    for i in range(dim):
        pivot = i + np.argmax(np.abs(rows[:, i:, i]), axis=1)
        taken = rows[every, pivot]
        rows[every, pivot] = rows[:, i]
        rows[:, i] = taken / taken[:, i, None]
        others = np.arange(dim) != i
        rows[:, others] -= rows[:, others, i, None] * rows[:, i, None]
    solved: Matrix = rows[:, :, dim:]
    return solved
