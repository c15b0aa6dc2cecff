"""A log of past decisions: read batch by batch from frames or files, and checked row by row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.checks import count
from hierbandits.logs.batch import Batch
from hierbandits.logs.batch_reader import BatchReader
from hierbandits.logs.cells import refuse
from hierbandits.logs.columns import Columns
from hierbandits.logs.group_sums import GroupSums
from hierbandits.logs.limits import LIMITS, Limits
from hierbandits.logs.log_sums import LogSums
from hierbandits.logs.sources import column_names, frames, opened
from hierbandits.types import Name

BATCH_ROWS = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """Rows of (task, arm or features, reward), read anew on each pass and never held as a whole.

    Nothing is repaired: a null, a NaN, an unknown arm, a ragged list of features, a propensity
    outside (0, 1] or a repeated decision id is a ValueError that names the column, the value and
    the row, counted from 0 (a CSV's header is not a row).
    """

    source: Any  # a pandas frame, or a polars one, lazy if it is a file
    columns: Columns
    arms: tuple[Name, ...] | None  # all arms that may occur, if they were given
    batch_rows: int
    is_text: bool  # a CSV: names stay strings, numbers are parsed

    @classmethod
    def read(
        cls,
        source: Any,
        columns: Columns,
        *,
        arms: Sequence[Name] | None = None,
        batch_rows: int = BATCH_ROWS,
    ) -> "Log":
        """A log in a polars, pandas or Arrow table, a polars LazyFrame, or a .parquet or .csv file.

        `arms` fixes the arms and their order.  Without it they are the arms that occur.
        """
        batch_rows = count("batch_rows", batch_rows, least=1)
        if arms is not None:
            arms = _checked_arms(arms, columns)
        source, is_text = opened(source)
        if is_text and isinstance(columns.features, str):
            raise ValueError(f"features of a CSV need a column each, got {columns.features!r}")
        present = column_names(source)
        for name in columns.names:
            if present.count(name) != 1:
                raise ValueError(f"columns must each occur once, got {name!r} among {present!r}")
        return cls(source, columns, arms, batch_rows, is_text)

    @classmethod
    def of(
        cls,
        source: Any,
        columns: Mapping[str, str | Sequence[str] | None],
        arms: Sequence[Name] | None = None,
    ) -> "Log":
        """Open what a function was given: a Log, or a source of `read` with its columns named.

        `columns` maps fields of `Columns` to names of columns, or to None if none was given.  A
        Log has named its columns already, so nothing may be given with it.
        """
        if isinstance(source, Log):
            for name, value in {**columns, "arms": arms}.items():
                if value is not None:
                    raise ValueError(f"{name} must not be given with a Log, got {value!r:.80}")
            return source
        given: dict[str, Any] = dict(columns)
        if given["task"] is None or given["reward"] is None:
            raise ValueError(
                f"task and reward must name columns, got {given['task']!r} and {given['reward']!r}"
            )
        return cls.read(source, Columns(**given), arms=arms)

    def batches(self) -> Iterator[Batch]:
        """Read the rows in order; a repeated decision id is refused at the end of the pass."""
        reader, start, hashes = BatchReader(self.columns, self.arms, self.is_text), 0, []
        for frame in frames(self.source, self.columns.names, self.batch_rows):
            if frame.height:
                batch = reader.batch(frame, start)
                if self.columns.decision is not None:
                    hashes.append(frame[self.columns.decision].hash().to_numpy())
                start += frame.height
                yield batch
        if start == 0:
            raise ValueError("source must have at least one row, got none")
        if self.columns.decision is not None:
            self._check_decisions(self.columns.decision, np.concatenate(hashes))

    def sums(self, limits: Limits = LIMITS) -> LogSums:
        """The sums of every task's events, in one pass and in the memory of a few batches."""
        sums = GroupSums(limits=limits)
        for batch in self.batches():
            sums.add(batch)
        names = batch.names
        return LogSums(
            sums.total(),
            tuple(names.tasks),
            tuple(names.arms) if batch.is_armed else None,
            tuple(names.populations),
            names.population,
        )

    def _check_decisions(self, column: str, hashes: NDArray[Any]) -> None:
        """Refuse ids that repeat.

        Equal hashes, of 8 bytes a row, may be equal ids; another pass over the ids makes sure.
        """
        hashes.sort()
        repeated = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
        if repeated.size == 0:
            return
        start, seen = 0, dict[Any, int]()
        for frame in frames(self.source, [column], self.batch_rows):
            ids = frame[column]
            for place in np.flatnonzero(np.isin(ids.hash().to_numpy(), repeated)).tolist():
                first = seen.setdefault(ids[place], start + place)
                if first != start + place:
                    must = f"be different in every row (row {first} has it too)"
                    refuse("decision", ids, range(start, start + ids.len()), place, must)
            start += frame.height


def _checked_arms(arms: Sequence[Name], columns: Columns) -> tuple[Name, ...]:
    if isinstance(arms, str | set | frozenset):  # a set has no order that lasts
        raise ValueError(f"arms must be a sequence of names, got {arms!r:.80}")
    arms = tuple(arm.item() if isinstance(arm, np.integer) else arm for arm in arms)
    kinds = {type(arm) for arm in arms}
    if columns.arm is None:
        raise ValueError("arms must come with a column of arms, got one of features")
    if kinds not in ({str}, {int}) or len(set(arms)) != len(arms):
        raise ValueError(f"arms must be distinct strings, or distinct integers, got {arms!r:.80}")
    return arms
