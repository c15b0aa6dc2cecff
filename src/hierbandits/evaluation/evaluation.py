"""What an evaluation found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hierbandits.evaluation.estimators import Estimates
from hierbandits.evaluation.replay import Replayed
from hierbandits.evaluation.weighing import Diagnostics
from hierbandits.types import Name, Vector

if TYPE_CHECKING:
    import polars as pl

    from hierbandits.evaluation.pessimistic_policy import PessimisticPolicy
    from hierbandits.reporting.report import Report


@dataclass(frozen=True, slots=True)
class Estimate:
    """A policy's mean reward over all evaluated rows by one method, and its gain over the log's.

    NaN where the rows do not tell.
    """

    policy: str
    method: str  # "logged" for the mean of the log's own rewards
    value: float
    error: float
    low: float
    high: float
    gain: float
    gain_low: float
    gain_high: float
    rows: int  # that the number rests on

    @classmethod
    def of(cls, policy: str, method: str, found: Estimates, rows: int) -> "Estimate":
        """The only entry of some estimates."""
        numbers = {name: float(getattr(found, name)[0]) for name in Estimates.__slots__}
        return cls(policy=policy, method=method, rows=rows, **numbers)


@dataclass(frozen=True, slots=True, eq=False)
class TaskEstimates:
    """The same numbers for every task, from its own rows."""

    found: Estimates  # (tasks,)
    rows: Vector  # (tasks,)
    effective_rows: Vector | None  # (tasks,); None if no weights are involved


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Estimates of every policy by every method that fits it, and whether to trust them."""

    estimates: tuple[Estimate, ...]  # overall, the log's own first
    by_task: Mapping[tuple[str, str], TaskEstimates]  # by policy and method
    diagnostics: Mapping[str, Diagnostics]  # of frozen policies
    replays: Mapping[str, Replayed]  # of learning policies
    tasks: tuple[Name, ...]
    level: float
    notes: tuple[str, ...]  # what was done, and why
    warnings: tuple[str, ...]  # what to distrust
    settings: Mapping[str, Any]

    def __getitem__(self, key: tuple[str, str]) -> Estimate:
        """The estimate of a policy by a method."""
        for estimate in self.estimates:
            if (estimate.policy, estimate.method) == key:
                return estimate
        known = [(estimate.policy, estimate.method) for estimate in self.estimates]
        raise KeyError(f"no estimate of {key}; there are {known}")

    def frame(self) -> "pl.DataFrame":
        """The overall estimates, a row each."""
        import polars as pl

        rows = [asdict(estimate) for estimate in self.estimates]
        return pl.DataFrame(rows).with_columns(pl.col(pl.Float64).fill_nan(None))

    def task_frame(self) -> "pl.DataFrame":
        """The estimates of every task, a row each."""
        import polars as pl

        parts = []
        for (policy, method), each in self.by_task.items():
            numbers = {name: getattr(each.found, name) for name in Estimates.__slots__}
            size = each.effective_rows
            parts.append(
                pl.DataFrame(
                    {
                        "task": list(self.tasks),
                        "policy": [policy] * len(self.tasks),
                        "method": [method] * len(self.tasks),
                        **numbers,
                        "rows": each.rows.astype(int),
                        "effective_rows": np.full(each.rows.size, np.nan) if size is None else size,
                    }
                )
            )
        return pl.concat(parts).with_columns(pl.col(pl.Float64).fill_nan(None))

    def report(self, learned: "PessimisticPolicy | None" = None) -> "Report":
        """A page with tables, figures, frames and JSON; `learned` adds the arms of HierOPO."""
        from hierbandits.evaluation.evaluation_report import report

        return report(self, learned)

    def __str__(self) -> str:
        from hierbandits.evaluation.evaluation_tables import tables
        from hierbandits.reporting.text_table import text_table

        parts = [
            f"{heading}\n{text_table(columns, rows)}" for heading, columns, rows in tables(self)
        ]
        parts += [f"Warning: {warning}" for warning in self.warnings]
        return "\n\n".join(parts)
