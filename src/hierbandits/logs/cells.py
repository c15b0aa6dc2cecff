"""The cells of a column as numbers or names; what is wrong with one is said with its row."""

from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np

from hierbandits.arrays import LARGEST, Indices, Vector
from hierbandits.decision import Name
from hierbandits.kernels.checks import first_outside
from hierbandits.logs.sources import polars_module

if TYPE_CHECKING:
    import polars as pl

Rows: TypeAlias = "range | Indices"  # the source's row of each cell of a column


class Numbering:
    """Gives each name the place of its first appearance."""

    def __init__(
        self, what: str, names: list[Name], *, fixed: bool = False, text: bool = False
    ) -> None:
        self._what, self._names, self._fixed = what, names, fixed
        self._table: pl.DataFrame | None = None
        if fixed:
            self._extend(polars_module().Series([str(name) for name in names] if text else names))

    def places(self, series: "pl.Series", rows: Rows) -> Indices:
        """The place of each name; new names are added unless they are fixed."""
        series = named_cells(self._what, series, rows)
        if self._table is None:
            self._add(series.unique(maintain_order=True))
        assert self._table is not None
        if series.dtype != self._table["name"].dtype:
            kind = "integers" if self._table["name"].dtype.is_integer() else "strings"
            others = "the names given" if self._fixed else "those before it"
            refuse(self._what, series, rows, 0, f"be {kind}, as {others}")
        found = self._find(series)
        if found.null_count():
            unknown = found.is_null()
            if self._fixed:
                known = ", ".join(repr(name) for name in self._names[:10])
                known += ", ..." if len(self._names) > 10 else ""
                refuse(self._what, series, rows, unknown.arg_max() or 0, f"be one of {known}")
            self._add(series.filter(unknown).unique(maintain_order=True))
            found = self._find(series)
        return np.array(found.to_numpy(), np.intp)

    def _find(self, series: "pl.Series") -> "pl.Series":
        assert self._table is not None
        frame = series.rename("name").to_frame()
        return frame.join(self._table, on="name", how="left", maintain_order="left")["place"]

    def _add(self, new: "pl.Series") -> None:
        self._extend(new)
        self._names += new.to_list()

    def _extend(self, new: "pl.Series") -> None:
        first = 0 if self._table is None else self._table.height
        places = np.arange(first, first + new.len(), dtype=np.int64)
        more = polars_module().DataFrame({"name": new, "place": places})
        self._table = more if self._table is None else self._table.vstack(more)


def refuse(what: str, series: "pl.Series", rows: Rows, place: int, must: str) -> NoReturn:
    """Raise for the cell at `place`, naming its column, its row and its value."""
    value = series[int(place)]
    value = value.to_list() if hasattr(value, "to_list") else value
    where = f"in column {series.name!r} at row {rows[place]}"
    raise ValueError(f"{what} must {must}, got {value!r:.80} {where}")


def filled(what: str, series: "pl.Series", rows: Rows) -> "pl.Series":
    """The column, none of whose cells is missing."""
    missing = series.is_null()
    if series.dtype.is_float():
        missing |= series.is_nan().fill_null(False)
    if missing.any():
        refuse(what, series, rows, missing.arg_max() or 0, "not be missing")
    return series


def named_cells(what: str, series: "pl.Series", rows: Rows) -> "pl.Series":
    """Names as strings or as 64-bit integers."""
    pl, series = polars_module(), filled(what, series, rows)
    if series.dtype.is_integer():
        whole = series.cast(pl.Int64, strict=False)
        if whole.null_count():
            refuse(what, series, rows, whole.is_null().arg_max() or 0, "be below 2**63")
        return whole
    if series.dtype not in (pl.String, pl.Categorical, pl.Enum):
        refuse(what, series, rows, 0, "be a string or an integer")
    return series.cast(pl.String)


def is_number(text: str) -> bool:
    """Whether `numbers` would read this text."""
    return polars_module().Series([text]).cast(polars_module().Float64, strict=False)[0] is not None


def numbers(what: str, series: "pl.Series", rows: Rows, text: bool = False) -> Vector:
    """Finite numbers, parsed if they are text."""
    pl, floats = polars_module(), filled(what, series, rows)
    if text:
        floats = series.cast(pl.Float64, strict=False)
        if floats.null_count():
            refuse(what, series, rows, floats.is_null().arg_max() or 0, "be a number")
    elif not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        refuse(what, series, rows, 0, "be a number")
    array = np.array(floats.cast(pl.Float64).to_numpy())
    bad = first_outside(array, LARGEST)
    if bad >= 0:
        refuse(what, series, rows, bad, f"be finite and at most {LARGEST:g} in size")
    return array


def probabilities(series: "pl.Series", rows: range, text: bool) -> Vector:
    """Numbers above 0 and at most 1."""
    array = numbers("propensity", series, rows, text)
    bad = np.flatnonzero((array <= 0) | (array > 1))
    if bad.size:
        refuse("propensity", series, rows, bad[0], "be in (0, 1]")
    return array


def as_lists(what: str, series: "pl.Series", rows: range) -> "pl.Series":
    """A column of lists, none of them missing."""
    pl = polars_module()
    filled(what, series, rows)
    if isinstance(series.dtype, pl.Array):
        return series.arr.to_list()
    if not isinstance(series.dtype, pl.List):
        refuse(what, series, rows, 0, "be a list")
    return series
