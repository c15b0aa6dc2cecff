"""Means and covariances of rows, task by task, added up batch after batch."""

from dataclasses import dataclass

import numpy as np

from hierbandits.types import Indices, Matrix, Vector


@dataclass(slots=True, eq=False)
class Moments:
    """For each task the number of rows, the means of some values and their co-moments.

    co-moment = sum over rows of (value - mean)(value - mean)', merged by the update of Chan,
    Golub and LeVeque, which loses no digits where means are large beside deviations.
    """

    n: Vector  # (tasks,)
    mean: Matrix  # (tasks, values)
    comoment: Matrix  # (tasks, values, values)

    @classmethod
    def zeros(cls, num_tasks: int, num_values: int) -> "Moments":
        """No rows yet."""
        return cls(
            np.zeros(num_tasks),
            np.zeros((num_tasks, num_values)),
            np.zeros((num_tasks, num_values, num_values)),
        )

    def add(self, tasks: Indices, values: Matrix) -> None:
        """Add rows: values (E, values)."""
        if tasks.size == 0:
            return
        met, place = np.unique(tasks, return_inverse=True)
        n = np.bincount(place).astype(float)
        width = values.shape[1]
        sums = [np.bincount(place, values[:, i]) for i in range(width)]
        mean = np.stack(sums, axis=1) / n[:, None]
        off = values - mean[place]
        comoment = np.empty((met.size, width, width))
        for i in range(width):
            for j in range(i + 1):
                comoment[:, i, j] = comoment[:, j, i] = np.bincount(place, off[:, i] * off[:, j])
        before = self.n[met]
        gap = mean - self.mean[met]
        total = before + n
        share = (before * n / total)[:, None, None]
        self.comoment[met] += comoment + share * gap[:, :, None] * gap[:, None, :]
        self.mean[met] += gap * (n / total)[:, None]
        self.n[met] = total

    def pooled(self) -> "Moments":
        """The moments of all rows, as if there were one task."""
        total = self.n.sum()
        mean = self.n @ self.mean / max(total, 1.0)
        off = self.mean - mean
        comoment = self.comoment.sum(axis=0) + np.einsum("s,si,sj->ij", self.n, off, off)
        return Moments(np.array([total]), mean[None], comoment[None])

    def error(self, *weights: Vector | float) -> Vector:
        """The standard error of the mean of sum_i weights[i] value_i, (tasks,).

        NaN with fewer than two rows.
        """
        w = np.stack([np.broadcast_to(np.asarray(x, float), self.n.shape) for x in weights], axis=1)
        square = np.einsum("si,sij,sj->s", w, self.comoment, w)
        enough = self.n > 1
        degrees = np.where(enough, self.n * (self.n - 1), 1.0)
        return np.where(enough, np.sqrt(np.maximum(square, 0.0) / degrees), np.nan)
