"""What one pass over a log learns about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.keyed_random import Stream
from hierbandits.logs.batch import Batch
from hierbandits.logs.log import Log
from hierbandits.logs.log_summary import LogCounter, LogSummary
from hierbandits.logs.reward_scale import RewardScale
from hierbandits.logs.row_sample import RowSample
from hierbandits.logs.rows import Rows
from hierbandits.types import Indices, Matrix, Name, Vector

RARE = 0.01
"""Rows with a smaller propensity are counted: their weights can exceed 100."""

TIMES = 20_000  # rows whose times are kept, to find the time that splits a log
FEATURES = 1_000  # rows whose features are kept


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Survey:
    """What one pass over a log learns about it; its size is that of the tasks, not of the rows."""

    log: Log
    tasks: tuple[Name, ...]
    coordinates: tuple[Name, ...]  # the names of the arms, or of the features
    populations: tuple[Name, ...]  # ("all",) if the log has no such column
    population: Indices  # the population of each task, a place in `populations`, (tasks,)
    num_rows: int
    reward_scale: RewardScale = field(repr=False)
    is_uniform: bool  # whether arms were drawn uniformly, as the caller says
    least_propensity: float | None  # None if propensities are not known
    num_rare: int  # rows of propensity below RARE
    is_ordered: bool  # whether times never fall from row to row
    times: NDArray[Any] | None = field(repr=False)  # of at most TIMES rows, sorted
    features: Matrix | None = field(repr=False)  # of at most FEATURES rows, (n, d); None if armed
    feature_tasks: Indices | None = field(repr=False)  # the tasks of these rows, (n,)
    summary: LogSummary = field(repr=False)  # what reports say of the log

    @classmethod
    def of(
        cls,
        log: Log,
        *,
        uniform: bool = False,
        seed: int = 0,
        with_each: Callable[[Batch], object] = lambda batch: None,
    ) -> "Survey":
        """Read every row once; `with_each` sees each batch as well.

        `uniform` says that the log's arms were drawn uniformly from the eligible ones.  `seed`
        chooses the rows whose features are kept.
        """
        if uniform and log.columns.propensity is not None:
            raise ValueError(
                "uniform must be False if the log has propensities, got True with the column "
                f"{log.columns.propensity!r}"
            )
        counter, propensities, times = LogCounter(log.columns), _Propensities(), _Times()
        features, feature_tasks = (
            RowSample(Stream(seed, "sample of features"), FEATURES) for _ in range(2)
        )
        for batch in log.batches():
            counter.add(batch)
            propensities.add(batch.propensities)
            times.add(batch)
            if not batch.is_armed:
                features.add(batch.first_row, np.asarray(batch.features, float))
                feature_tasks.add(batch.first_row, batch.tasks)
            with_each(batch)
        counter.scale.check()
        names = batch.names
        return cls(
            log=log,
            tasks=tuple(names.tasks),
            coordinates=_coordinate_names(log, batch),
            populations=tuple(names.populations),
            population=names.population,
            num_rows=batch.first_row + batch.num_rows,
            reward_scale=counter.scale,
            is_uniform=uniform,
            least_propensity=1 / len(names.arms) if uniform else propensities.least,
            num_rare=propensities.rare,
            is_ordered=times.is_ordered,
            times=times.sorted(),
            features=features.values,
            feature_tasks=feature_tasks.values,
            summary=counter.summary(),
        )

    def read_as(self) -> dict[str, Any]:
        """How the log was read, and what was left out: a part of a report's settings."""
        return {
            "reading": self.log.reading.to_dict(),
            "left_out": self.summary.left_out.to_dict(),
        }

    def rows_read(self) -> dict[str, Any]:
        """How many rows were read, and which were left out in words: a part of MADE_FROM."""
        return {"rows": self.num_rows, "left_out": str(self.summary.left_out)}

    @property
    def num_tasks(self) -> int:
        """How many tasks occur."""
        return len(self.tasks)

    @property
    def num_populations(self) -> int:
        """How many populations occur."""
        return len(self.populations)

    @property
    def is_armed(self) -> bool:
        """Whether coordinates are arms."""
        return self.has_arms and self.log.encoder is None

    @property
    def has_arms(self) -> bool:
        """Whether the log names the arms played; an encoder may have made features of them."""
        return self.log.columns.arm is not None

    @property
    def arms(self) -> tuple[Name, ...]:
        """The names of the arms, of a log that has them."""
        assert self.has_arms
        return self.coordinates if self.log.encoder is None else self.log.encoder.arms

    @property
    def has_propensities(self) -> bool:
        """Whether the probability of every logged choice is known."""
        return self.least_propensity is not None

    def rows(self) -> Iterator[Rows]:
        """Read a log with arms again, batch by batch."""
        num_arms = len(self.arms)
        for batch in self.log.batches():
            eligible, propensities = batch.eligible, batch.propensities
            if eligible is not None and eligible.shape[1] < num_arms:  # others are met later
                later = num_arms - eligible.shape[1]
                eligible = np.pad(eligible, ((0, 0), (0, later)))
            if self.is_uniform:
                choices = num_arms if eligible is None else eligible.sum(axis=1)
                propensities = np.full(batch.num_rows, 1.0) / choices
            assert batch.arms is not None
            yield Rows(
                batch.numbers, batch.tasks, batch.arms, batch.rewards, propensities, eligible,
                batch.times, batch.cells,
            )  # fmt: skip


class _Propensities:
    """The least propensity, and how many are small."""

    def __init__(self) -> None:
        self.least: float | None = None
        self.rare = 0

    def add(self, propensities: Vector | None) -> None:
        if propensities is not None:
            least = float(propensities.min())
            self.least = least if self.least is None else min(self.least, least)
            self.rare += int((propensities < RARE).sum())


class _Times:
    """Whether times are in order, and the times of a sample of rows."""

    def __init__(self) -> None:
        self.is_ordered = True
        self._sample = RowSample(Stream(0, "times"), TIMES)
        self._last: Any = None

    def add(self, batch: Batch) -> None:
        times = batch.times
        if times is None:
            return
        before = times if self._last is None else np.append(self._last, times)
        self.is_ordered &= bool((before[1:] >= before[:-1]).all())
        self._last = times[-1:]
        self._sample.add(batch.first_row, times)

    def sorted(self) -> NDArray[Any] | None:
        times = self._sample.values
        return None if times is None else np.sort(times)


def _coordinate_names(log: Log, batch: Batch) -> tuple[Name, ...]:
    """The names of the arms, or of the features."""
    if log.encoder is not None:
        return log.encoder.coordinates
    features = log.columns.features
    if batch.is_armed or features is None:
        return tuple(batch.names.arms)
    if isinstance(features, str):
        return tuple(f"{features}[{i}]" for i in range(batch.dim))
    return tuple(features)
