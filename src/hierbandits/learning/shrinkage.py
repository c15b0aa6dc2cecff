"""How much each task leans on the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.types import Indices, Matrix, Name, Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shrinkage:
    """The posterior of each task, and how much of it comes from other tasks.

    `weight` is tr(K_s) / d with K_s = P_s Sigma_0^-1: the part of the task's estimate that comes
    from other tasks; 1 for a task without data of its own.
    """

    tasks: tuple[Name, ...]
    coordinates: tuple[Name, ...]
    population: Indices  # of each task, (tasks,)
    rows: Vector  # events of each task, (tasks,)
    weight: Vector  # (tasks,)
    mean: Matrix  # posterior means of theta, (tasks, d)
    std: Matrix  # posterior standard deviations, (tasks, d)

    @classmethod
    def of(
        cls,
        posteriors: TaskPosteriors,
        rows: Vector,
        tasks: tuple[Name, ...],
        coordinates: tuple[Name, ...],
    ) -> "Shrinkage":
        """Read the posteriors."""
        gains, covs = posteriors.gain, posteriors.covs
        if gains.ndim == 3:
            gains, covs = (np.diagonal(part, axis1=1, axis2=2) for part in (gains, covs))
        return cls(
            tasks=tasks,
            coordinates=coordinates,
            population=posteriors.population,
            rows=rows,
            weight=gains.mean(1),
            mean=posteriors.means,
            std=np.sqrt(covs),
        )

    def quantiles(self) -> dict[str, float]:
        """The weights at the 0, 25, 50, 75 and 100 % points."""
        points = np.quantile(self.weight, [0, 0.25, 0.5, 0.75, 1]).tolist()
        return dict(zip(("least", "25 %", "median", "75 %", "most"), points, strict=True))

    def frame(self) -> Any:
        """One row for each task, as a polars frame."""
        import polars as pl

        columns: dict[str, Any] = {
            "task": list(self.tasks),
            "rows": self.rows.astype(np.int64),
            "weight_of_others": self.weight,
        }
        for j, name in enumerate(self.coordinates):
            columns[f"mean {name}"] = self.mean[:, j]
            columns[f"std {name}"] = self.std[:, j]
        return pl.DataFrame(columns)
