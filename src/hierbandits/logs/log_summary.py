"""What a log holds: the first page of every report on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from hierbandits.keyed_random import Stream
from hierbandits.logs.batch import Batch
from hierbandits.logs.columns import Columns
from hierbandits.logs.left_out import LeftOut
from hierbandits.logs.name_problems import name_problems
from hierbandits.logs.problem import Problem
from hierbandits.logs.reward_scale import RewardScale
from hierbandits.logs.row_sample import RowSample
from hierbandits.reporting.plain_data import plain
from hierbandits.reporting.report import Report
from hierbandits.reporting.rounding import in_percent
from hierbandits.types import Indices, Name, Vector

SAMPLE = 20_000  # rewards whose quartiles are told
SHOWN_ARMS = 20
QUARTERS = (0.25, 0.5, 0.75)

Table: TypeAlias = tuple[str, Sequence[str], list[list[str]]]
"""A heading, the names of columns, and rows of cells."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LogSummary:
    """How many rows, tasks and arms a log has, how rewards are distributed, what looks odd."""

    num_rows: int
    left_out: LeftOut
    tasks: tuple[Name, ...]
    task_rows: Indices  # (tasks,)
    arms: tuple[Name, ...] | None  # None if the log names none
    arm_rows: Indices  # (arms,), or (0,)
    arm_means: Vector  # the mean reward of each arm, NaN if it was never played
    num_features: int | None
    populations: tuple[Name, ...]
    reward_mean: float
    reward_std: float
    reward_least: float
    reward_quartiles: tuple[float, ...]  # of all rewards, or of a sample of 20,000
    reward_largest: float
    problems: tuple[Problem, ...]

    def tables(self) -> list[Table]:
        """Heading, columns and rows of each table."""
        shown: list[Table] = [("The log", ("", "value"), self._facts())]
        if self.arms is not None:
            order = np.argsort(-self.arm_rows, kind="stable")
            part = "" if order.size <= SHOWN_ARMS else f", {SHOWN_ARMS} of {order.size:,}"
            cells = [
                [str(self.arms[k]), f"{self.arm_rows[k]:,}",
                 in_percent(self.arm_rows[k] / self.num_rows), f"{self.arm_means[k]:.4g}"]
                for k in order[:SHOWN_ARMS].tolist()
            ]  # fmt: skip
            shown.append((f"Arms{part}", ("arm", "rows", "share", "mean reward"), cells))
        return shown

    def add_to(self, page: Report) -> None:
        """Add the tables and what looks odd to a report's page."""
        for heading, columns, rows in self.tables():
            page.table(heading, columns, rows)
        page.text(*(f"Look at this: {problem}" for problem in self.problems))

    def _facts(self) -> list[list[str]]:
        """What there is to know in a line each."""
        low, middle, high = np.quantile(self.task_rows, QUARTERS)
        quartiles = ", ".join(f"{value:.4g}" for value in self.reward_quartiles)
        facts = [["rows", f"{self.num_rows:,}"]]
        if self.left_out.total:
            facts.append(["rows left out", f"{self.left_out.total:,}: {self.left_out}"])
        facts.append(["tasks", f"{len(self.tasks):,}"])
        of_task = f"{self.task_rows.min():,}"
        if np.ptp(self.task_rows) > 0:
            of_task += f" to {self.task_rows.max():,}, half of them {low:,.0f} to {high:,.0f}, "
            of_task += f"median {middle:,.0f}"
        facts.append(["rows of a task", of_task])
        if len(self.populations) > 1:
            facts.append(["populations", f"{len(self.populations):,}"])
        if self.arms is not None:
            facts.append(["arms", f"{len(self.arms):,}"])
        if self.num_features is not None:
            facts.append(["features", f"{self.num_features:,}"])
        facts += [
            ["rewards", f"{self.reward_least:.4g} to {self.reward_largest:.4g}"],
            ["mean reward", f"{self.reward_mean:.4g}, standard deviation {self.reward_std:.4g}"],
            ["quartiles of rewards", quartiles],
        ]
        return facts

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; of the tasks, how many rows they have."""
        arms = None
        if self.arms is not None:
            counted = zip(self.arms, self.arm_rows.tolist(), self.arm_means.tolist(), strict=True)
            arms = [{"arm": arm, "rows": rows, "mean": mean} for arm, rows, mean in counted]
        levels = np.quantile(self.task_rows, (0, *QUARTERS, 1))
        data: dict[str, Any] = plain(
            {
                "rows": self.num_rows,
                "left_out": self.left_out,
                "tasks": len(self.tasks),
                "rows_of_a_task": dict(
                    zip(("least", "low", "median", "high", "most"), levels.tolist(), strict=True)
                ),
                "arms": arms,
                "features": self.num_features,
                "populations": len(self.populations),
                "rewards": {
                    "mean": self.reward_mean,
                    "std": self.reward_std,
                    "least": self.reward_least,
                    "quartiles": self.reward_quartiles,
                    "largest": self.reward_largest,
                },
                "problems": self.problems,
            }
        )
        return data


class LogCounter:
    """Counts the rows of a log, batch by batch, in the memory of its tasks and arms."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.scale = RewardScale()
        self._sample = RowSample(Stream(0, "sample of rewards"), SAMPLE)
        self._task_rows, self._arm_rows = np.empty(0, np.intp), np.empty(0, np.intp)
        self._first_tasks, self._first_arms = FirstRows(), FirstRows()
        self._arm_sums: Vector = np.empty(0)
        self._range = (np.inf, -np.inf)
        self._last: Batch | None = None

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch."""
        rewards = batch.rewards
        self._last = batch
        self.scale.add(rewards)
        self._sample.add(batch.first_row, rewards)
        low, high = self._range
        self._range = min(low, float(rewards.min())), max(high, float(rewards.max()))
        self._task_rows = _added(self._task_rows, np.bincount(batch.tasks))
        self._first_tasks.add(batch.tasks, batch.rows)
        arms = batch.arms
        if arms is not None:
            self._arm_rows = _added(self._arm_rows, np.bincount(arms))
            self._first_arms.add(arms, batch.rows)
            self._arm_sums = _added(self._arm_sums, np.bincount(arms, rewards))

    def summary(self) -> LogSummary:
        """What was counted; at least one batch must have been added."""
        assert self._last is not None
        assert self._sample.values is not None
        names, columns, batch = self._last.names, self._columns, self._last
        arm_rows = _added(np.zeros(len(names.arms), np.intp), self._arm_rows)
        sums = _added(np.zeros(len(names.arms)), self._arm_sums)
        problems = name_problems(
            "task", columns.task, names.tasks, self._task_rows, self._first_tasks.rows
        )
        if columns.arm is not None:
            problems += name_problems(
                "arm", columns.arm, names.arms, arm_rows, self._first_arms.rows
            )
        with np.errstate(invalid="ignore"):
            means = sums / arm_rows
        return LogSummary(
            num_rows=self.scale.count,
            left_out=batch.left_out,
            tasks=tuple(names.tasks),
            task_rows=self._task_rows,
            arms=None if batch.arms is None else tuple(names.arms),
            arm_rows=arm_rows,
            arm_means=means,
            num_features=None if batch.is_armed else batch.dim,
            populations=tuple(names.populations),
            reward_mean=self.scale.mean,
            reward_std=self.scale.std,
            reward_least=self._range[0],
            reward_quartiles=tuple(np.quantile(self._sample.values, QUARTERS).tolist()),
            reward_largest=self._range[1],
            problems=tuple(problems),
        )


class FirstRows:
    """The row in which each name is met first."""

    def __init__(self) -> None:
        self.rows: Indices = np.empty(0, np.intp)  # of each place; -1 if it was not met

    def add(self, places: Indices, rows: Indices) -> None:
        """Add the names of a batch, as places, and the numbers of its rows."""
        met, first = np.unique(places, return_index=True)
        size = max(self.rows.size, int(met[-1]) + 1)
        self.rows = np.pad(self.rows, (0, size - self.rows.size), constant_values=-1)
        new = self.rows[met] < 0
        self.rows[met[new]] = rows[first[new]]


def _added(one: Any, two: Any) -> Any:
    """The sum of two arrays, the shorter one followed by zeros."""
    size = max(one.size, two.size)
    return np.pad(one, (0, size - one.size)) + np.pad(two, (0, size - two.size))
