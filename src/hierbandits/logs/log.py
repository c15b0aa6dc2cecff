"""A log of past decisions: read batch by batch from frames or files, and checked row by row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hierbandits.checks import count
from hierbandits.logs.batch import Batch
from hierbandits.logs.batch_reader import BatchReader
from hierbandits.logs.cleaner import Cleaner
from hierbandits.logs.columns import Columns, check_columns
from hierbandits.logs.encoder import Encoder, EncoderFit
from hierbandits.logs.group_sums import GroupSums
from hierbandits.logs.joined_sums import JoinedSums
from hierbandits.logs.limits import LIMITS, Limits
from hierbandits.logs.log_parts import parts_of
from hierbandits.logs.log_sums import LogSums
from hierbandits.logs.origin import facts_of_files, origin_of
from hierbandits.logs.polars_import import polars_module
from hierbandits.logs.reading import AS_IT_IS, Reading
from hierbandits.logs.repeats import Repeats
from hierbandits.logs.sources import column_names, files_of, frames, opened
from hierbandits.reporting.notebook_card import notebook_card
from hierbandits.reporting.pandas_frame import as_pandas
from hierbandits.reporting.plain_data import plain
from hierbandits.reporting.progress import Progress, progress_bar
from hierbandits.reporting.shown_name import MOST_IN_CELL, shown_name
from hierbandits.types import Indices, Name
from hierbandits.workers.backends import LOCAL, checked_backend, successive

if TYPE_CHECKING:
    import polars as pl

BATCH_ROWS = 1 << 17


def _no_rows() -> Indices:
    return np.empty(0, np.intp)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Log:
    """Rows of (task, arm or features, reward), read anew on each pass and never held as a whole.

    Nothing is repaired unless a `Reading` says so: a null, a NaN, an unknown arm, a ragged list of
    features, a propensity outside (0, 1] or a repeated decision id is a ValueError that names the
    column, the value and the row, counted from 0 (a CSV's header is not a row).
    """

    source: Any  # a pandas frame, or a polars one, lazy if it is a file
    columns: Columns
    arms: tuple[Name, ...] | None  # all arms that may occur, if they were given
    batch_rows: int
    is_text: bool  # a CSV: names stay strings, numbers are parsed
    reading: Reading = AS_IT_IS
    repeated: Indices = field(default_factory=_no_rows, repr=False)  # left out: they are copies
    origin: str = "a frame"  # what was read: paths as they were given, or the kind of a frame
    files: tuple[str, ...] = ()
    encoder: Encoder | None = None  # of arms and contexts, if there are columns of contexts
    first_row: int = 0  # the number of the first row, if these are some files of a log

    @classmethod
    def read(
        cls,
        source: Any,
        columns: Columns,
        *,
        arms: Sequence[Name] | None = None,
        reading: Reading = AS_IT_IS,
        batch_rows: int = BATCH_ROWS,
        encoder: Encoder | None = None,
    ) -> "Log":
        """A log in frames, plain columns or files.

        `source` is a polars, pandas or Arrow table, an Arrow dataset or a polars LazyFrame; a
        mapping of columns, or a list of rows that are mappings; or the path of a .parquet or .csv
        file, packed or not, of a folder of them, a pattern, or a list of paths; where fsspec
        reaches, the URL of a .parquet file, a folder or a pattern, "s3://bucket/log/" say.  `arms`
        fixes the arms and their order.  Without it they are the arms that occur.  `reading` says
        how cells are read and which rows are left out.  If there are columns of a context, all rows
        are read once to fit an encoder, unless one is given, an agent's say.
        """
        log = cls._opened(source, columns, arms, reading, batch_rows)
        if not columns.context:
            if encoder is not None:
                raise ValueError(f"encoder must come with arm and features, got {encoder!r:.80}")
            return log
        return replace(log, **log._encoding(encoder))

    @classmethod
    def _opened(
        cls,
        source: Any,
        columns: Columns,
        arms: Sequence[Name] | None,
        reading: Reading,
        batch_rows: int = BATCH_ROWS,
    ) -> "Log":
        """A log whose contexts, if any, are not encoded: its arms are as they are."""
        batch_rows = count("batch_rows", batch_rows, least=1)
        if arms is not None:
            arms = _checked_arms(arms, columns)
        if not isinstance(reading, Reading):
            raise ValueError(f"reading must be a Reading, got {reading!r:.80}")
        if reading.drop_repeated and columns.decision is None:
            raise ValueError("drop_repeated must come with a column of decision ids, got none")
        given = source
        source, is_text = opened(given, reading, columns.names)  # asks for polars first
        origin, files = origin_of(given), tuple(files_of(given))
        if is_text and isinstance(columns.features, str):
            raise ValueError(f"features of a CSV need a column each, got {columns.features!r}")
        check_columns(columns.names, column_names(source))
        log = cls(source, columns, arms, batch_rows, is_text, reading, origin=origin, files=files)
        if not reading.drop_repeated:
            return log
        assert columns.decision is not None
        repeats = Repeats.of(log.clean_frames, columns.decision)
        repeats.refuse(columns.decision, copies=False)
        return replace(log, repeated=repeats.copies)

    @classmethod
    def of(
        cls,
        source: Any,
        columns: Mapping[str, str | Sequence[str] | None],
        arms: Sequence[Name] | None = None,
        reading: Reading = AS_IT_IS,
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
        return cls.read(source, Columns.named(columns), arms=arms, reading=reading)

    def _encoding(self, encoder: Encoder | None) -> dict[str, Any]:
        """The encoder, fitted unless it is given, and its arms, as fields of a log."""
        columns = self.columns
        if encoder is None:
            fit = EncoderFit(columns.context, self.reading.decimal if self.is_text else None)
            for frame, batch in self._read(None):
                fit.add(frame, batch.rows)
            assert columns.arm is not None
            encoder = fit.encoder(columns.arm, batch.names.arms)
        elif not isinstance(encoder, Encoder) or encoder.context != columns.context:
            raise ValueError(
                f"encoder must be of the columns {columns.context!r:.200}, got {encoder!r:.200}"
            )
        if self.arms is not None and self.arms != encoder.arms:
            raise ValueError(f"arms must be the encoder's, {encoder.arms!r:.80}, got {self.arms}")
        return {"encoder": encoder, "arms": encoder.arms}

    def clean_frames(
        self, cleaner: Cleaner | None = None
    ) -> "Iterator[tuple[pl.DataFrame, Indices]]":
        """The rows that are read, not checked yet, and their numbers in the source."""
        start = self.first_row
        cleaner = cleaner or Cleaner(self.columns, self.reading, self.is_text, self.repeated)
        read = frames(self.source, self.columns.names, self.batch_rows, self.files, self.reading)
        for frame in read:
            yield cleaner.clean(frame, start)
            start += frame.height

    def __repr__(self) -> str:
        columns = ", ".join(f"{role}={name!r}" for role, name in self.columns._roles())
        rows = f" of {len(self.source):,} rows" if hasattr(self.source, "__len__") else ""
        return f"<Log{rows}: {shown_name(columns, MOST_IN_CELL)}>"

    def _repr_html_(self) -> str:
        rows = [(role, name) for role, name in self.columns._roles()]
        return notebook_card(repr(self), (), [("", ("what", "column"), rows)])

    def batches(self) -> Iterator[Batch]:
        """Read the rows in order; a repeated decision id is refused at the end of the pass."""
        for _, batch in self._read(self.encoder):
            yield batch

    def _read(
        self, encoder: Encoder | None, *, may_be_empty: bool = False
    ) -> "Iterator[tuple[pl.DataFrame, Batch]]":
        """The rows as they are and as batches, with features by this encoder."""
        reader = BatchReader(self.columns, self.arms, self.is_text, self.reading, encoder)
        cleaner = Cleaner(self.columns, self.reading, self.is_text, self.repeated)
        column, kept, hashes = self.columns.decision, 0, []
        for frame, rows in self.clean_frames(cleaner):
            if frame.height:
                batch = reader.batch(frame, rows, kept, cleaner.left_out)
                if column is not None:
                    hashes.append(frame[column].hash().to_numpy())
                kept += frame.height
                yield frame, batch
        if kept == 0 and not may_be_empty:
            gone = cleaner.left_out
            some = f"none but those left out: {gone}" if gone.total else "none"
            raise ValueError(f"source must have at least one row, got {some}")
        if column is not None and hashes and not self.reading.drop_repeated:
            self._check_decisions(column, np.concatenate(hashes))

    def frame(self) -> "pl.DataFrame":
        """The rows that are read, not checked, with their numbers in the source as column `row`.

        It is held as a whole.  A column of the log that is called `row` is kept instead.
        """
        polars = polars_module()
        parts = [
            frame if "row" in frame.columns else frame.insert_column(0, polars.Series("row", rows))
            for frame, rows in self.clean_frames()
        ]
        return polars.concat(parts)  # type: ignore[no-any-return]

    def to_pandas(self) -> Any:
        """`frame` for pandas, which need not have pyarrow."""
        return as_pandas(self.frame())

    def sums(self, limits: Limits = LIMITS) -> LogSums:
        """The sums of every task's events, in one pass and in the memory of a few batches."""
        return self._summed_events(limits) or self._no_sums()

    def file_sums(
        self, limits: Limits = LIMITS, *, backend: str = LOCAL, progress: Progress = None
    ) -> LogSums:
        """`sums` of many Parquet files, each summed where it is, by the workers of a `backend`.

        Workers read the files and send sums; see `simulate` for the back ends.  The sums are the
        same on any, and those of `sums` but for rounding.  Other logs are summed in one pass.
        """
        checked_backend(backend)
        parts = parts_of(self)
        if len(parts) == 1:
            return self.sums(limits)
        joined = JoinedSums(self.arms, merge=self.reading.merge_names, limits=limits)
        with progress_bar("Summing the log", len(parts), progress) as steps:
            for sums in successive(partial(_part_sums, limits), parts, backend=backend):
                if sums is not None:
                    joined.add(sums)
                steps.advance()
        return self._no_sums() if joined.is_empty else joined.total()

    def _summed_events(self, limits: Limits) -> LogSums | None:
        """The sums of every task's events; None if there are no rows."""
        sums, batch = GroupSums(limits=limits), None
        for _, batch in self._read(self.encoder, may_be_empty=True):
            sums.add(batch)
        if batch is None:
            return None
        names = batch.names
        return LogSums(
            sums.total(),
            tuple(names.tasks),
            tuple(names.arms) if batch.is_armed else None,
            tuple(names.populations),
            names.population,
        )

    def _no_sums(self) -> NoReturn:
        """Say why there are no rows."""
        list(self.batches())
        raise AssertionError("a log without rows is refused")

    def made_from(self) -> dict[str, Any]:
        """What a report says of this log: its files as they are now, and its columns.

        With the numbers of rows it goes into a report's settings, below the key MADE_FROM of
        `reporting.provenance`.
        """
        return {
            "log": self.origin,
            "files": facts_of_files(self.files),
            "columns": plain(self.columns.roles),
        }

    def _check_decisions(self, column: str, hashes: NDArray[Any]) -> None:
        """Refuse ids that repeat among the rows that are read."""
        Repeats.of(self.clean_frames, column, hashes).refuse(column, copies=True)


def _part_sums(limits: Limits, part: Log) -> LogSums | None:
    return part._summed_events(limits)


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
