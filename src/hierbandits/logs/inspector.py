"""Looks at a log before anything is learned from it: all of its problems at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.logs.batch_reader import BatchReader
from hierbandits.logs.broken_text import broken_text
from hierbandits.logs.cells import tidied
from hierbandits.logs.cleaner import Cleaner
from hierbandits.logs.column_problems import column_problems, repeat_problems
from hierbandits.logs.column_profile import ColumnProfile, ColumnProfiler
from hierbandits.logs.columns import Columns
from hierbandits.logs.fault_finder import COUNTED, FaultFinder
from hierbandits.logs.fault_problems import fault_problem
from hierbandits.logs.inspection import Inspection
from hierbandits.logs.limits import LIMITS
from hierbandits.logs.log import BATCH_ROWS, Log
from hierbandits.logs.log_summary import LogCounter, LogSummary
from hierbandits.logs.problem import Problem
from hierbandits.logs.reading import AS_IT_IS, Reading
from hierbandits.logs.repeats import Repeats
from hierbandits.logs.role_guess import guessed_roles
from hierbandits.logs.sources import column_names, files_of, frames, opened
from hierbandits.logs.text_file import UnreadableSource
from hierbandits.reporting.progress import Progress, progress_bar
from hierbandits.types import Indices, Name

if TYPE_CHECKING:
    import polars as pl


def inspect(
    source: Any,
    *,
    task: str | None = None,
    reward: str | None = None,
    arm: str | None = None,
    features: str | Sequence[str] | None = None,
    propensity: str | None = None,
    eligible: str | None = None,
    time: str | None = None,
    population: str | None = None,
    decision: str | None = None,
    arms: Sequence[Name] | None = None,
    reading: Reading = AS_IT_IS,
    progress: Progress = None,
) -> Inspection:
    """What a log holds, and all that is wrong with it, in one pass and in little memory.

    `source` and `reading` are as for `Log.read`; or `source` is a Log, with its roles.  Without
    roles the inspection lists the columns and proposes which may hold what.  With `task`, `reward`
    and `arm` or `features` it looks at every cell that would be read, and tells all problems at
    once: their rows, what they do, and what goes on.  Memory is 16 bytes for each row, and what
    tasks and arms take.
    """
    roles: dict[str, Any] = {
        "task": task, "arm": arm, "features": features, "reward": reward,
        "propensity": propensity, "eligible": eligible, "time": time, "population": population,
        "decision": decision,
    }  # fmt: skip
    roles = {name: part for name, part in roles.items() if part is not None}
    if isinstance(source, Log):
        for name, value in {**roles, "arms": arms}.items():
            if value is not None:
                raise ValueError(f"{name} must not be given with a Log, got {value!r:.80}")
        if reading is not AS_IT_IS:
            raise ValueError(f"reading must not be given with a Log, got {reading!r:.80}")
        table, is_text, reading = source.source, source.is_text, source.reading
        files: Sequence[str] = source.files
        as_it_is = replace(reading, drop_repeated=False)  # copies are looked for here
        log: Log | None = replace(source, reading=as_it_is, repeated=np.empty(0, np.intp))
    else:
        try:
            log, (table, is_text) = _opened(source, roles, arms, reading)
            files = files_of(source)
        except UnreadableSource as error:
            return _inspection(source, reading, problems=[broken_text(source, reading, error)])
    with progress_bar("Inspecting the log", None, progress) as steps:
        work = _Work(table, files, log, is_text, reading)
        try:
            work.read(steps.advance)
        except UnreadableSource as error:
            work.problems.append(broken_text(source, reading, error))
        summary = work.finish()
    profiles = tuple(profiler.profile() for profiler in work.profilers)
    columns = None if log is None else log.columns
    problems = [*work.problems, *column_problems(profiles, work.hashes(), columns)]
    if summary is not None:
        problems += [*summary.problems, *_size_problems(summary)]
    return _inspection(source, reading, work.num_rows, profiles, columns, summary, problems)


def _opened(
    source: Any, roles: Mapping[str, Any], arms: Sequence[Name] | None, reading: Reading
) -> tuple[Log | None, tuple[Any, bool]]:
    """The log, if there are roles, and what it is read from."""
    if not roles:
        return None, opened(source, reading, names=())
    named = {"task": None, "reward": None} | dict(roles)
    log = Log._opened(source, Columns.named(named), arms, replace(reading, drop_repeated=False))
    return log, (log.source, log.is_text)


def _size_problems(summary: LogSummary) -> list[Problem]:
    """Whether a log is too large to be learned from."""
    dim = summary.num_features if summary.arms is None else len(summary.arms)
    try:
        LIMITS.check_fit(len(summary.tasks), dim or 0, armed=summary.arms is not None)
    except ValueError as error:
        return [Problem(stops=True, finding=f"learn and evaluate refuse it: {error}")]
    return []


def _inspection(
    source: Any,
    reading: Reading,
    num_rows: int = 0,
    profiles: tuple[ColumnProfile, ...] = (),
    columns: Columns | None = None,
    summary: LogSummary | None = None,
    problems: Sequence[Problem] = (),
) -> Inspection:
    is_file = isinstance(source, str | PathLike)
    return Inspection(
        source=str(source) if is_file else type(source).__name__,
        num_rows=num_rows,
        columns=profiles,
        roles={} if columns is None else columns.roles,
        proposal=guessed_roles(profiles) if columns is None else {},
        summary=summary,
        problems=tuple(problems),
        reading=reading,
        is_file=is_file,
    )


class _Work:
    """One pass over a log that goes on where `Log.batches` would stop."""

    def __init__(
        self, table: Any, files: Sequence[str], log: Log | None, is_text: bool, reading: Reading
    ) -> None:
        self._table, self._files, self._log = table, files, log
        self._is_text, self._reading = is_text, reading
        names = column_names(table)
        self._names = [name for name in names if names.count(name) == 1 and isinstance(name, str)]
        self.profilers = [ColumnProfiler(name, reading.decimal) for name in self._names]
        self.problems: list[Problem] = []
        self.num_rows = 0
        self._hashes: list[NDArray[Any]] = []
        self._repeated: Indices = np.empty(0, np.intp)
        self._roles: _RoleWork | None = None

    def read(self, advance: Callable[[int], object]) -> None:
        """Read all rows; what is odd is noted."""
        if self._log is not None:
            self._find_repeats(self._log)
            self._roles = _RoleWork(self._log, self._reading, self._repeated)
        for frame in frames(self._table, self._names, BATCH_ROWS, self._files, self._reading):
            rows = np.arange(self.num_rows, self.num_rows + frame.height)
            tidy = tidied(frame, self._reading, self._is_text)
            for profiler in self.profilers:
                profiler.add(tidy[profiler.name], rows)
            self._hashes.append(tidy.hash_rows().to_numpy())
            if self._roles is not None:
                self._roles.add(frame, self.num_rows)
            self.num_rows += frame.height
            advance(frame.height)

    def _find_repeats(self, log: Log) -> None:
        column = log.columns.decision
        if column is None:
            return
        repeats = Repeats.of(log.clean_frames, column)
        if self._reading.drop_repeated:
            self._repeated = repeats.copies
        self.problems += repeat_problems(repeats, column, dropped=self._reading.drop_repeated)

    def finish(self) -> LogSummary | None:
        """The summary of all rows that can be read, if there are any; problems are complete."""
        if self._roles is None:
            return None
        faults = self._roles.finder.faults.all
        self.problems += [fault_problem(fault, self._reading, self._is_text) for fault in faults]
        self.problems += self._roles.problems
        return self._roles.summary()

    def hashes(self) -> NDArray[Any]:
        """A hash of each row, (rows,)."""
        return np.concatenate([np.empty(0, np.uint64), *self._hashes])


class _RoleWork:
    """What the columns that have roles hold: bad cells, and a summary of the rows without them."""

    def __init__(self, log: Log, reading: Reading, repeated: Indices) -> None:
        self._log = log
        self._cleaner = Cleaner(log.columns, reading, log.is_text, repeated)
        counted = {role: log.columns.roles.get(role) for role in COUNTED}
        self._counted = Columns(**counted)  # type: ignore[arg-type]  # as they were
        self._reader = BatchReader(self._counted, log.arms, log.is_text, reading)
        self._counter = LogCounter(log.columns)
        self._kept = 0
        self.finder = FaultFinder(log.columns, log.arms, log.is_text, reading)
        self.problems: list[Problem] = []

    def add(self, frame: "pl.DataFrame", start: int) -> None:
        """Look at some rows."""
        some, rows = self._cleaner.clean(frame.select(self._log.columns.names), start)
        good = self.finder.good(some, rows)
        if not good.all():
            some, rows = some.filter(good), rows[good]
        if some.is_empty() or self.problems:
            return
        try:
            batch = self._reader.batch(some, rows, self._kept, self._cleaner.left_out)
        except ValueError as error:  # what depends on earlier rows: a task that moves
            self.problems.append(
                Problem(
                    stops=True, finding=str(error),
                    effect="Later rows were not looked at for this.",
                    remedy="Correct these rows.",
                )
            )  # fmt: skip
            return
        self._counter.add(batch)
        self._kept += some.height

    def summary(self) -> LogSummary | None:
        """Of the rows without faults."""
        return self._counter.summary() if self._kept else None
