"""A study: the regret of every policy in every run, with its means, errors and tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from hierbandits.checks import one_of
from hierbandits.reporting.notebook_card import notebook_card
from hierbandits.reporting.pandas_frame import as_pandas
from hierbandits.reporting.parquet_file import write_parquet
from hierbandits.reporting.picture import Picture
from hierbandits.types import Indices, Matrix, Vector

_FEW = 6  # policies that a line of text shows

OUTCOME_ARRAYS = ("curve", "per_task", "variance", "explored", "snapshots")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Outcome:
    """What one policy did in every run."""

    curve: Matrix  # cumulative regret over all tasks at the study's rounds, (runs, points)
    per_task: Matrix  # total regret of each task, (runs, tasks)
    variance: Vector  # V(m, n): the sum of posterior variances of the chosen arms, (runs,)
    explored: Vector  # the same over the explored tasks alone, (runs,); see `VarianceSum`
    snapshots: Matrix  # the mean of the hyper-posterior at evenly spaced rounds, (runs, S, d)
    seconds: float  # that the computation took

    def __repr__(self) -> str:
        runs, tasks = self.per_task.shape
        mean, error = mean_and_error(self.total)
        return f"<Outcome of {runs:,} runs of {tasks:,} tasks: regret {mean:.4g} ± {error:.2g}>"

    @property
    def total(self) -> Vector:
        """The final cumulative regret over all tasks, (runs,)."""
        total: Vector = self.per_task.sum(axis=1)
        return total

    @classmethod
    def joined(cls, parts: list["Outcome"]) -> "Outcome":
        """One outcome of the runs of all parts, in order."""
        arrays = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in OUTCOME_ARRAYS
        }
        return cls(**arrays, seconds=sum(part.seconds for part in parts))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Study:
    """Policies side by side in the same worlds."""

    rounds: Indices  # the rounds after which curves are kept, (points,)
    outcomes: Mapping[str, Outcome]

    @property
    def runs(self) -> int:
        """The number of runs of each policy."""
        return len(next(iter(self.outcomes.values())).total)

    def mean(self, policy: str) -> tuple[float, float]:
        """The mean final regret and its standard error."""
        return mean_and_error(self.outcomes[policy].total)

    def difference(self, policy: str, other: str) -> tuple[float, float]:
        """The mean of the final regret of `policy` less that of `other`, and its standard error.

        Runs are paired.
        """
        return mean_and_error(self.outcomes[policy].total - self.outcomes[other].total)

    def ratio(self, policy: str, other: str) -> tuple[float, float]:
        """The mean final regret of `policy` over that of `other`, and its standard error."""
        return ratio_and_error(self.outcomes[policy].total, self.outcomes[other].total)

    def band(self, policy: str) -> tuple[Vector, Vector]:
        """The mean regret at each kept round and its standard error, (points,) each."""
        curve = self.outcomes[policy].curve
        points = [mean_and_error(values) for values in curve.T]
        mean, error = np.array(points).T
        return mean, error

    def summary(self, baseline: str | None = None) -> list[dict[str, Any]]:
        """One row for each policy; with a baseline, its paired difference from that too."""
        if baseline is not None:
            one_of("baseline", baseline, self.outcomes)
        rows = []
        for name, outcome in self.outcomes.items():
            mean, error = self.mean(name)
            row: dict[str, Any] = {"policy": name, "runs": self.runs, "mean": mean}
            row |= {"standard_error": error, "seconds": outcome.seconds}
            if np.isfinite(outcome.variance).all():
                row["variance_sum"] = float(outcome.variance.mean())
                row["explored_variance_sum"] = float(outcome.explored.mean())
            if baseline is not None:
                row["difference"], row["difference_error"] = self.difference(name, baseline)
            rows.append(row)
        return rows

    def frame(self) -> Any:
        """The curves as a polars frame: a row for each policy, run and kept round."""
        import polars as pl

        runs, points = self.runs, self.rounds.size
        parts = [
            pl.DataFrame(
                {
                    "policy": [name] * (runs * points),
                    "run": np.repeat(np.arange(runs), points),
                    "round": np.tile(self.rounds, runs),
                    "regret": outcome.curve.ravel(),
                }
            )
            for name, outcome in self.outcomes.items()
        ]
        return pl.concat(parts)

    def task_frame(self) -> Any:
        """Final regrets as a polars frame: a row for each policy, run and task."""
        import polars as pl

        parts = []
        for name, outcome in self.outcomes.items():
            runs, tasks = outcome.per_task.shape
            columns = {
                "policy": [name] * (runs * tasks),
                "run": np.repeat(np.arange(runs), tasks),
                "task": np.tile(np.arange(tasks), runs),
                "regret": outcome.per_task.ravel(),
            }
            parts.append(pl.DataFrame(columns))
        return pl.concat(parts)

    def to_pandas(self) -> Any:
        """`frame` as a pandas frame."""
        return as_pandas(self.frame())

    def write_parquet(self, path: str | PathLike[str]) -> None:
        """Write `frame` to a Parquet file, whole or not at all."""
        write_parquet(self.frame(), path)

    def picture(self, title: str = "") -> Picture:
        """Cumulative regret against rounds, with bands of one standard error."""
        from hierbandits.reporting.figure import panels
        from hierbandits.simulation.plots import regret_curves

        figure, (axes,) = panels(1)
        regret_curves(axes, self, title)
        return Picture(figure, f"regret of {', '.join(self.outcomes)} in {self.runs:,} runs")

    def __repr__(self) -> str:
        each = [
            f"{name} {self.mean(name)[0]:.4g} ± {self.mean(name)[1]:.2g}" for name in self.outcomes
        ]
        more = f" and {len(each) - _FEW} more" if len(each) > _FEW else ""
        return (
            f"<Study of {self.runs:,} runs, regret after {self.rounds[-1]:,} rounds: "
            f"{', '.join(each[:_FEW])}{more}>"
        )

    def _repr_html_(self) -> str:
        rows = [[name, *(f"{number:.4g}" for number in self.mean(name))] for name in self.outcomes]
        heading = f"Final regret over all tasks, {self.runs:,} runs"
        return notebook_card(repr(self), (), [(heading, ("policy", "regret", "± s.e."), rows)])


def mean_and_error(values: Vector) -> tuple[float, float]:
    """The mean of some values and its standard error, which one value alone does not tell: NaN."""
    if values.size == 1:
        return float(values[0]), np.nan
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def ratio_and_error(own: Vector, others: Vector) -> tuple[float, float]:
    """The mean of some values over that of others, which are paired with them, and its error.

    The standard error is by the delta method.  If the others' mean is zero, as that of no regret
    at all, the ratio is 1 and its error 0.  One pair alone tells no error: NaN.
    """
    size = float(others.mean())
    if size <= 0:
        return 1.0, 0.0 if others.size > 1 else np.nan
    ratio = float(own.mean()) / size
    return ratio, mean_and_error(own - ratio * others)[1] / size
