"""How much each task leans on the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.reporting.notebook_card import notebook_card
from hierbandits.reporting.shown_name import shown_name
from hierbandits.types import Indices, Mask, Matrix, Name, Vector


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

    def __repr__(self) -> str:
        if not self.weight.size:
            return "<Shrinkage of no task>"
        points = self.quantiles()
        return (
            f"<Shrinkage of {self.weight.size:,} tasks: others weigh {points['least']:.2g} to "
            f"{points['most']:.2g}, median {points['median']:.2g}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            [shown_name(name), f"{self.rows[s]:,.0f}", f"{self.weight[s]:.2g}"]
            for s, name in enumerate(self.tasks)
        ]
        heading = "How much each task leans on the others"
        columns = ("task", "rows", "weight of others")
        return notebook_card(repr(self), (), [(heading, columns, rows)])

    def frame(self, told: Mask | None = None) -> Any:
        """One row for each task, as a polars frame; null where a width is not told, (d,)."""
        import polars as pl

        told = np.ones(len(self.coordinates), bool) if told is None else told
        columns: dict[str, Any] = {
            "task": list(self.tasks),
            "rows": self.rows.astype(np.int64),
            "weight_of_others": self.weight if told.any() else None,
        }
        for j, name in enumerate(self.coordinates):
            columns[f"mean {name}"] = self.mean[:, j] if told[j] else None
            columns[f"std {name}"] = self.std[:, j] if told[j] else None
        numbers = {name: pl.Float64 for name in columns if name not in ("task", "rows")}
        return pl.DataFrame(columns, schema_overrides=numbers)
