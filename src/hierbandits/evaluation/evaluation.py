"""The results of an evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hierbandits.evaluation.diagnostics import Diagnostics
from hierbandits.evaluation.difference import Difference
from hierbandits.evaluation.estimators import Estimates
from hierbandits.evaluation.evaluation_verdict import Verdict, single_arm, verdict
from hierbandits.evaluation.pessimistic_policy import PessimisticPolicy
from hierbandits.evaluation.replay import Replayed
from hierbandits.logs import LogSummary
from hierbandits.reporting.pandas_frame import as_pandas
from hierbandits.reporting.plain_data import plain
from hierbandits.types import Name, Vector

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from hierbandits.reporting.report import Report

BEST_FIRST = ("dr", "snips", "ips", "dm", "replay")
"""Of a policy's methods, the first of these is to be trusted first."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A policy's mean reward over all judged rows by one method, and its improvement over the log.

    NaN where the rows do not tell.
    """

    policy: str
    method: str  # "logged" for the mean of the log's own rewards
    value: float
    error: float
    low: float
    high: float
    improvement: float
    improvement_low: float
    improvement_high: float
    rows: int  # that the number rests on

    @classmethod
    def of(cls, policy: str, method: str, estimates: Estimates, rows: int) -> "Estimate":
        """The only entry of some estimates."""
        numbers = {name: float(getattr(estimates, name)[0]) for name in Estimates.__slots__}
        return cls(policy=policy, method=method, rows=rows, **numbers)


def trusted_estimates(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Each policy's estimate by the method to be trusted first; it leaves out the log's own."""
    best: dict[str, Estimate] = {}
    for each in estimates[1:]:
        known = best.setdefault(each.policy, each)
        best[each.policy] = min(known, each, key=lambda one: BEST_FIRST.index(one.method))
    return list(best.values())


@dataclass(frozen=True, slots=True, eq=False)
class TaskEstimates:
    """The same numbers for every task, from its own rows."""

    estimates: Estimates  # (tasks,)
    rows: Vector  # (tasks,)
    effective_rows: Vector | None  # (tasks,); None if no weights are involved


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Evaluation:
    """Estimates of every policy by every method that fits it, and whether to trust them."""

    estimates: tuple[Estimate, ...]  # overall, the log's own first
    differences: tuple[Difference, ...]  # of each policy to the log, and to the best single arm
    reference: str | None  # the policy that is the best single arm, if it was evaluated
    best_arms: tuple[Name, ...]  # what it plays, in each group of rows that is judged
    by_task: Mapping[tuple[str, str], TaskEstimates]  # by policy and method
    diagnostics: Mapping[str, Diagnostics]  # of frozen policies
    replays: Mapping[str, Replayed]  # of learning policies
    hieropo: PessimisticPolicy | None  # learned from all rows, if HierOPO was evaluated
    log: LogSummary
    tasks: tuple[Name, ...]
    confidence: float
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

    def trusted(self) -> list[Estimate]:
        """Each policy's estimate by the method to be trusted first."""
        return trusted_estimates(self.estimates)

    @property
    def verdict(self) -> Verdict:
        """The answer in one sentence: the best policy beside the log and the best single arm."""
        trusted = {(each.policy, each.method) for each in self.trusted()}
        return verdict(
            [each for each in self.differences if (each.policy, each.method) in trusted],
            self.diagnostics,
            (self.reference, single_arm(self.best_arms, barred=self.settings["eligible"])),
            self.confidence,
        )

    def frame(self) -> "pl.DataFrame":
        """The overall estimates, a row each."""
        import polars as pl

        rows = [asdict(estimate) for estimate in self.estimates]
        return pl.DataFrame(rows).with_columns(pl.col(pl.Float64).fill_nan(None))

    def to_pandas(self) -> Any:
        """`frame` for pandas, which need not have pyarrow."""
        return as_pandas(self.frame())

    def task_frame(self) -> "pl.DataFrame":
        """The estimates of every task, a row each."""
        import polars as pl

        parts = []
        for (policy, method), each in self.by_task.items():
            numbers = {name: getattr(each.estimates, name) for name in Estimates.__slots__}
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

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the estimates of each task are in tasks.parquet."""
        data: dict[str, Any] = plain(
            {
                "log": self.log,
                "rows": self.settings["rows"],
                "tasks": len(self.tasks),
                "arms": self.settings["arms"],
                "verdict": self.verdict,
                "estimates": self.estimates,
                "differences": self.differences,
                "best_arms": [str(arm) for arm in self.best_arms],
                "diagnostics": self.diagnostics,
                "replays": self.replays,
                "notes": self.notes,
                "warnings": self.warnings,
                "settings": self.settings,
            }
        )
        return data

    def report(self) -> "Report":
        """A page with tables, figures, frames and JSON."""
        from hierbandits.evaluation.evaluation_report import report

        return report(self)

    def write(self, folder: str | Path) -> Path:
        """Write a page, figures, tables, report.json and summary.json; returns the page."""
        return self.report().write(folder)

    def show(self, console: "Console | None" = None) -> None:
        """Print the verdict, the tables, the warnings and the notes to a terminal."""
        from hierbandits.evaluation.evaluation_report import show

        show(self, console)

    def __repr__(self) -> str:
        rows = f"{self.settings['rows']:,} rows of {len(self.tasks):,} tasks"
        return f"<Evaluation on {rows}: {self.verdict}>"

    def _repr_html_(self) -> str:
        from hierbandits.evaluation.evaluation_tables import tables
        from hierbandits.reporting.notebook_card import notebook_card

        warnings = [f"Warning: {warning}" for warning in self.warnings]
        return notebook_card(repr(self), [*self.notes, *warnings], tables(self))

    def __str__(self) -> str:
        from hierbandits.evaluation.evaluation_tables import tables
        from hierbandits.reporting.text_table import text_table

        parts = [self.verdict.sentence]
        parts += [
            f"{heading}\n{text_table(columns, rows)}" for heading, columns, rows in tables(self)
        ]
        parts += [f"Warning: {warning}" for warning in self.warnings]
        return "\n\n".join(parts)
