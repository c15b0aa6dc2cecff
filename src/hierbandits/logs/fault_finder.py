"""Finds every cell of a log that a pass over it would refuse, and not the first alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hierbandits.checks import LARGEST
from hierbandits.logs.batch_reader import SEPARATOR
from hierbandits.logs.cells import missing_cells
from hierbandits.logs.columns import Columns
from hierbandits.logs.fault import Faults, Kind
from hierbandits.logs.names import look_of
from hierbandits.logs.numbers import parsed_numbers
from hierbandits.logs.polars_import import polars_module
from hierbandits.logs.reading import Reading
from hierbandits.logs.times import TimeReader
from hierbandits.types import Indices, Mask, Name

if TYPE_CHECKING:
    import polars as pl

COUNTED = ("task", "arm", "features", "population", "reward")


class FaultFinder:
    """Looks at the cells of a log as `BatchReader` does, and goes on where that stops."""

    def __init__(
        self, columns: Columns, arms: Sequence[Name] | None, text: bool, reading: Reading
    ) -> None:
        self._columns, self._arms, self._text = columns, arms, text
        self._decimal = reading.decimal if text else None
        self._merge = reading.merge_names
        self._times = TimeReader(reading.time_format, reading.decimal)
        self._dim: int | None = None
        self._integers: dict[str, bool] = {}  # whether the names of each role are integers
        self.faults = Faults()

    def good(self, frame: "pl.DataFrame", rows: Indices) -> Mask:
        """Which rows can be counted, (E,); all faults are noted.

        Rows are counted by their tasks, arms or features, populations and rewards alone.
        """
        named = self._columns
        look = _Look(self.faults, rows)
        for role in ("task", "arm", "population", "decision"):
            column = getattr(named, role)
            if column is not None:
                self._names(look, role, frame[column])
        for role, column in (("reward", named.reward), ("propensity", named.propensity)):
            if column is not None:
                self._numbers(look, role, frame[column])
        if isinstance(named.features, str):
            self._lists(look, frame[named.features])
        elif named.arm is None:
            for column in named.features or ():
                self._numbers(look, "features", frame[column])
        for column in named.context:
            self._context(look, frame[column])
        if named.eligible is not None and named.arm is not None:
            self._eligible(look, frame[named.eligible], frame[named.arm])
        if named.time is not None:
            self._moments(look, frame[named.time])
        return look.good

    def _names(self, look: "_Look", role: str, series: "pl.Series") -> None:
        pl = polars_module()
        missing = look.missing(role, series)
        whole = series.dtype.is_integer()
        if whole:
            over = series.cast(pl.Int64, strict=False).is_null().to_numpy()
            look.note(role, "other", "be below 2**63", series, over & ~missing)
        elif series.dtype not in (pl.String, pl.Categorical, pl.Enum):
            look.note(role, "other", "be a string or an integer", series, ~missing)
            return
        if role == "arm" and self._arms is not None:
            known = self._known()
            if isinstance(known[0], int) != whole:
                kind = "strings" if whole else "integers"
                look.note(role, "other", f"be {kind}, as the names given", series, ~missing)
                return
            cells = self._compared(series if whole else series.cast(pl.String))
            unknown = ~cells.is_in(known).fill_null(True).to_numpy()
            look.note(role, "other", "be one of the arms given", series, unknown & ~missing)
        elif role != "decision" and whole != self._integers.setdefault(role, whole):
            kind = "strings" if whole else "integers"
            look.note(role, "other", f"be {kind}, as those before it", series, ~missing)

    def _numbers(self, look: "_Look", role: str, series: "pl.Series") -> None:
        pl = polars_module()
        floats, missing = series, look.missing(role, series)
        if self._decimal is not None and series.dtype == pl.String:
            floats = parsed_numbers(series, self._decimal)
            none = floats.is_null().to_numpy() & ~missing
            look.note(role, "number", "be a number", series, none)
            nans = missing_cells(floats).to_numpy() & ~missing & ~none
            look.note(role, "missing", "not be missing", series, nans)
            missing = missing | none | nans
        elif not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
            look.note(role, "number", "be a number", series, ~missing)
            return
        values = floats.cast(pl.Float64).fill_null(0.0).fill_nan(0.0).to_numpy()
        huge = ~(np.abs(values) <= LARGEST)
        must = f"be finite and at most {LARGEST:g} in size"
        look.note(role, "finite", must, series, huge & ~missing)
        if role == "propensity":
            outside = ((values <= 0) | (values > 1)) & ~huge & ~missing
            look.note(role, "other", "be in (0, 1]", series, outside)

    def _context(self, look: "_Look", series: "pl.Series") -> None:
        """Numbers, text or booleans; which of them is for the encoder to say."""
        pl = polars_module()
        if series.dtype.is_numeric():
            self._numbers(look, "features", series)
            return
        missing = look.missing("features", series)
        if series.dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Boolean):
            must = "be a number, text or a boolean"
            look.note("features", "other", must, series, ~missing)

    def _lists(self, look: "_Look", series: "pl.Series") -> None:
        pl = polars_module()
        missing = look.missing("features", series)
        if isinstance(series.dtype, pl.Array):
            series = series.arr.to_list()
        if not isinstance(series.dtype, pl.List):
            look.note("features", "other", "be a list", series, ~missing)
            return
        inner = series.dtype.inner
        if not (inner.is_numeric() or inner == pl.Boolean):
            look.note("features", "number", "be lists of numbers", series, ~missing)
            return
        sizes = series.list.len().fill_null(0).to_numpy()
        known = sizes[~missing]
        if self._dim is None and known.size:
            self._dim = int(known[0])
        ragged = ((sizes != self._dim) | (sizes == 0)) & ~missing
        must = f"be lists of {self._dim or 'at least 1'} numbers"
        look.note("features", "other", must, series, ragged)
        huge = series.list.eval(~(pl.element().cast(pl.Float64).abs() <= LARGEST)).list.any()
        must = f"be finite and at most {LARGEST:g} in size"
        large = huge.fill_null(False).to_numpy() & ~missing & ~ragged
        look.note("features", "finite", must, series, large)

    def _eligible(self, look: "_Look", series: "pl.Series", arms: "pl.Series") -> None:
        pl = polars_module()
        missing, lists = look.missing("eligible", series), series
        if self._text:
            lists = series.str.split(SEPARATOR)
            empty = lists.list.contains("").fill_null(False).to_numpy()
            must = f"be arms separated by {SEPARATOR!r}"
            look.note("eligible", "other", must, series, empty)
            missing = missing | empty
        if isinstance(lists.dtype, pl.Array):
            lists = lists.arr.to_list()
        if not isinstance(lists.dtype, pl.List):
            look.note("eligible", "other", "be a list", series, ~missing)
            return
        none = lists.list.len().fill_null(1).to_numpy() == 0
        look.note("eligible", "other", "hold at least one arm", series, none & ~missing)
        lists = self._compared(lists)
        try:
            table = pl.DataFrame({"may": lists, "arm": self._compared(arms)})
            among = table.select(pl.col("may").list.contains(pl.col("arm"))).to_series()
        except pl.exceptions.PolarsError:
            look.note("eligible", "other", "hold names as the arms are", series, ~missing)
            return
        outside = ~among.fill_null(True).to_numpy() & ~missing & ~none
        look.note("arm", "other", "be among the eligible arms", arms, outside)
        if self._arms is not None:
            strange = lists.list.eval(~pl.element().is_in(self._known())).list.any()
            odd = strange.fill_null(False).to_numpy() & ~missing
            look.note("eligible", "other", "hold the arms given", series, odd)

    def _known(self) -> list[Name]:
        """The arms that were given, as cells are compared with them."""
        known = [str(arm) if self._text else arm for arm in self._arms or ()]
        return [look_of(arm) if self._merge and isinstance(arm, str) else arm for arm in known]

    def _compared(self, names: "pl.Series") -> "pl.Series":
        """Names, or lists of names, as they are compared: by their looks if these are merged."""
        pl = polars_module()
        is_list = isinstance(names.dtype, pl.List)
        flat = names.explode() if is_list else names
        if not self._merge or flat.dtype != pl.String:
            return names
        old = flat.drop_nulls().unique().to_list()
        new = [look_of(name) for name in old]
        if not is_list:
            return names.replace(old, new)
        return names.list.eval(pl.element().replace(old, new))

    def _moments(self, look: "_Look", series: "pl.Series") -> None:
        missing = look.missing("time", series)
        moments, must = self._times.moments(series)
        wrong = moments.is_null().to_numpy() & ~missing
        look.note("time", "other", must, series, wrong)
        if moments.dtype.is_float():
            values = moments.fill_null(0.0).to_numpy()
            huge = ~(np.abs(values) <= LARGEST) & ~missing & ~wrong
            look.note("time", "finite", f"be finite and at most {LARGEST:g} in size", series, huge)


class _Look:
    """The rows of one batch, and which of them are still good."""

    def __init__(self, faults: Faults, rows: Indices) -> None:
        self._faults, self._rows = faults, rows
        self.good = np.ones(rows.size, np.bool_)

    def missing(self, role: str, series: "pl.Series") -> Mask:
        """Note the missing cells."""
        missing = np.asarray(missing_cells(series).to_numpy(), np.bool_)
        self.note(role, "missing", "not be missing", series, missing)
        return missing

    def note(self, role: str, kind: Kind, must: str, series: "pl.Series", bad: Mask) -> None:
        """Note bad cells."""
        self._faults.add(role, kind, must, series, self._rows, bad)
        if role in COUNTED:
            self.good &= ~bad
