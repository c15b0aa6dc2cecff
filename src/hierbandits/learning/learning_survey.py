"""The first pass over a log: sums for learning, sums for checking, and a sample of features."""

from dataclasses import dataclass

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.keyed_random import Stream
from hierbandits.learning.held_out import Split
from hierbandits.logs import Batch, Columns, Log, RowSample, Spread
from hierbandits.types import Indices, Matrix, Name, Vector

SAMPLE = 1000  # rows whose features are kept


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Survey:
    """All that is kept of a log; its size is that of the tasks, not of the rows."""

    training: TaskSums  # of the rows that are not held out
    held: TaskSums  # of those that are
    tasks: tuple[Name, ...]
    coordinates: tuple[Name, ...]  # the names of the arms, or of the features
    populations: tuple[Name, ...]
    population: Indices  # that of each task, (tasks,)
    sample: Matrix | None  # features of rows drawn at random, (at most SAMPLE, d); None if armed
    two_valued: bool  # whether the rewards have two values, as successes and failures do

    @property
    def sums(self) -> TaskSums:
        """Of all rows."""
        return self.training + self.held

    @property
    def is_armed(self) -> bool:
        """Whether coordinates are arms."""
        return self.training.is_armed

    @classmethod
    def of(cls, log: Log, split: Split) -> "Survey":
        """Read a log once, in the memory of a few batches."""
        parts: list[TaskSums | None] = [None, None]
        spread, values = Spread(), np.empty(0)
        sample = RowSample(Stream(split.seed, "sample of features"), SAMPLE)
        for batch in log.batches():
            spread.add(batch.rewards)
            held = split.held(batch.first_row, batch.tasks.size)
            for i, chosen in enumerate((~held, held)):
                parts[i] = _added(parts[i], batch, np.flatnonzero(chosen))
            if values.size < 3:
                values = np.unique(np.append(values, np.unique(batch.rewards)[:3]))[:3]
            if batch.features.ndim == 2:
                sample.add(batch.first_row, np.asarray(batch.features, float))
        names, (training, held_sums) = batch.names, parts
        assert training is not None  # an empty log was refused
        assert held_sums is not None
        _check(len(names.tasks), values, training, held_sums, split)
        spread.check()
        if training.is_armed and len(names.arms) < 2:
            raise ValueError(f"arm must have at least two values in the log, got {names.arms!r}")
        size = len(names.tasks)
        return cls(
            training=training.rows(np.s_[:size]),
            held=held_sums.rows(np.s_[:size]),
            tasks=tuple(names.tasks),
            coordinates=tuple(names.arms) or _features(log.columns, training.xy.shape[1]),
            populations=tuple(names.populations),
            population=names.population,
            sample=sample.values,
            two_valued=values.size == 2,
        )


def _added(sums: TaskSums | None, batch: Batch, rows: Indices) -> TaskSums:
    names, armed = batch.names, batch.features.ndim == 1
    dim = len(names.arms) if armed else batch.features.shape[1]
    if sums is None:
        sums = TaskSums.zeros(len(names.tasks), dim, armed=armed)
    sums = sums.with_room(len(names.tasks), dim)
    sums.add(batch.tasks[rows], batch.features[rows], batch.rewards[rows])
    return sums


def _features(columns: Columns, dim: int) -> tuple[Name, ...]:
    if isinstance(columns.features, str):
        return tuple(f"{columns.features}[{i}]" for i in range(dim))
    assert columns.features is not None
    return tuple(columns.features)


def _check(
    num_tasks: int, values: Vector, training: TaskSums, held: TaskSums, split: Split
) -> None:
    if num_tasks < 2:
        raise ValueError(f"task must have at least two values in the log, got {num_tasks}")
    if values.size < 2:
        raise ValueError(f"reward must differ between rows, got {values[0]:g} in all of them")
    kept, out = int(training.n.sum()), int(held.n.sum())
    if kept == 0 or (out == 0 and split.share > 0):
        raise ValueError(
            f"held_out must leave rows on both sides, got {split.share:g}, which holds out "
            f"{out} of {kept + out} rows; 0 checks nothing"
        )
