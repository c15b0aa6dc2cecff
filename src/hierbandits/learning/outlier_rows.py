"""The rows of tasks that stand out: where in the log they are, and what was expected there."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.learning.outliers import Outliers
from hierbandits.learning.sections import Section
from hierbandits.logs import Batch, Survey
from hierbandits.types import Indices, Matrix, Name, Vector

MOST_TASKS, MOST_ROWS = 10, 20  # tasks whose rows are looked for, and rows of each that are kept
SHOWN_ROWS, SHOWN_FEATURES = 3, 4  # of a task on the page, and of a row


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OutlierRows:
    """For each task that stands out, the rows that the other tasks explain least.

    A reward is expected to be N(x @ m, x' C x + sigma^2), where theta ~ N(m, C) is what all other
    tasks say of the task.  Rows are in order of how far they are from it, task by task.
    """

    coordinates: tuple[Name, ...]
    tasks: tuple[Name, ...]  # of each row
    numbers: Indices  # of the row in the log, counted from 0
    features: Matrix | Indices  # (rows, d), or arms (rows,)
    rewards: Vector
    expected: Vector
    std: Vector  # of the reward about what is expected
    more_tasks: int  # that stand out, and whose rows were not looked for

    @classmethod
    def of(cls, survey: Survey, outliers: Outliers, noise_std: Vector) -> "OutlierRows | None":
        """Read the log once more; None if no task stands out.

        The noise is one for all rewards, (1,), or one for each arm, (K,).
        """
        places = outliers.flagged_places[:MOST_TASKS]
        if not places.size:
            return None
        kept = [_Worst() for _ in places]
        home = np.full(survey.num_tasks, -1)
        home[places] = np.arange(places.size)
        for batch in survey.log.batches():
            which = home[batch.tasks]
            for place in np.unique(which[which >= 0]):
                own = np.flatnonzero(which == place)
                mean, cov = outliers.others_mean[place], outliers.others_cov[place]
                kept[place].add(batch, own, *_predicted(batch, own, mean, cov, noise_std))
        parts = [worst.rows() for worst in kept]
        names = [outliers.tasks[s] for s, part in zip(places, parts, strict=True) for _ in part[0]]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return cls(
            coordinates=outliers.coordinates,
            tasks=tuple(names),
            numbers=columns[0],
            features=columns[1],
            rewards=columns[2],
            expected=columns[3],
            std=columns[4],
            more_tasks=int(outliers.flagged.sum()) - places.size,
        )

    @property
    def z(self) -> Vector:
        """How far each reward is from what is expected, in standard deviations."""
        return (self.rewards - self.expected) / self.std

    def inputs(self, row: int, most: int | None = None) -> str:
        """The arm of a row, or its features."""
        if self.features.ndim == 1:
            return str(self.coordinates[int(self.features[row])])
        pairs = zip(self.coordinates[:most], self.features[row], strict=False)
        text = ", ".join(f"{name} = {value:.3g}" for name, value in pairs)
        return text + ("" if most is None or len(self.coordinates) <= most else ", …")

    def frame(self) -> Any:
        """One row for each row of the log, as a polars frame."""
        import polars as pl

        columns: dict[str, Any] = {"task": list(self.tasks), "row": self.numbers}
        if self.features.ndim == 1:
            columns["arm"] = [self.coordinates[int(arm)] for arm in self.features]
        else:
            columns |= {f"feature {n}": self.features[:, j] for j, n in enumerate(self.coordinates)}
        columns |= {"reward": self.rewards, "expected": self.expected, "std": self.std}
        return pl.DataFrame(columns | {"z": self.z})


def outlier_rows_section(rows: OutlierRows) -> Section:
    """The rows as the page shows them."""
    z, shown, left = rows.z, [], dict.fromkeys(rows.tasks, SHOWN_ROWS)
    for row, task in enumerate(rows.tasks):
        left[task] -= 1
        if left[task] >= 0:
            numbers = [rows.rewards[row], rows.expected[row], rows.std[row]]
            cells = [f"{value:.4g}" for value in numbers] + [f"{z[row]:+.2f}"]
            shown.append(
                [str(task), str(rows.numbers[row]), rows.inputs(row, SHOWN_FEATURES), *cells]
            )
    what = "arm" if rows.features.ndim == 1 else "features"
    words = [
        f"The rows of these tasks that the others explain least, {SHOWN_ROWS} at most of each. "
        "Rows are counted from 0, and the header of a CSV file is not a row. What is expected is "
        "what all other tasks say of the row, and ± the standard deviation of a reward about it.",
        f"outlier_rows.parquet has {MOST_ROWS} rows at most of each task."
        + (f" {rows.more_tasks} more tasks stand out." if rows.more_tasks else ""),
    ]
    return Section(
        name="outlier_rows",
        heading="Rows of tasks that stand out",
        columns=("task", "row", what, "reward", "expected", "±", "z"),
        rows=shown,
        words=words,
        brief=False,
    )


def _predicted(
    batch: Batch, own: Indices, mean: Vector, cov: Matrix, noise_std: Vector
) -> tuple[Vector, Vector]:
    """What is expected of these rows, and the standard deviation about it."""
    x = batch.features[own]
    if batch.is_armed:
        arms = np.asarray(x, np.intp)
        var = cov if cov.ndim == 1 else np.diagonal(cov)
        return mean[arms], np.sqrt((var + noise_std**2)[arms])
    spread = np.einsum("ni,ij,nj->n", x, np.diag(cov) if cov.ndim == 1 else cov, x)
    return x @ mean, np.sqrt(np.maximum(spread, 0.0) + noise_std**2)


class _Worst:
    """Keeps the rows of a task that are furthest from what is expected."""

    def __init__(self) -> None:
        self._parts: tuple[Any, ...] | None = None

    def add(self, batch: Batch, own: Indices, expected: Vector, std: Vector) -> None:
        rewards = batch.rewards[own]
        new: tuple[Any, ...] = (batch.rows[own], batch.features[own], rewards, expected, std)
        every = new
        if self._parts is not None:
            every = tuple(np.concatenate(pair) for pair in zip(self._parts, new, strict=True))
        far = np.abs((every[2] - every[3]) / every[4])
        order = np.argsort(-far, kind="stable")[:MOST_ROWS]
        self._parts = tuple(part[order] for part in every)

    def rows(self) -> tuple[Any, ...]:
        assert self._parts is not None  # every task of a log has rows
        return self._parts
