"""The cells of a column: none missing, names and lists; an error names the cell's row."""

import re
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from hierbandits.logs.polars_import import polars_module
from hierbandits.logs.reading import Reading
from hierbandits.types import Indices

if TYPE_CHECKING:
    import polars as pl

RowNumbers: TypeAlias = "range | Indices"  # the log's row of each cell


def refuse(what: str, series: "pl.Series", rows: RowNumbers, place: int, must: str) -> NoReturn:
    """Raise an error about the cell at `place` that names its column, its row and its value."""
    value = series[int(place)]
    value = value.to_list() if hasattr(value, "to_list") else value
    where = f"in column {series.name!r} at row {rows[place]}"
    raise ValueError(f"{what} must {must}, got {value!r:.80} {where}")


def grouped(mark: str, decimal: str) -> str:
    """A pattern of numbers with this mark between thousands: 1,234.5, but not 1,23 or 0,123."""
    between = r"[ \u00a0\u202f]" if mark == " " else re.escape(mark)
    return rf"^[+-]?[1-9]\d{{0,2}}({between}\d{{3}})+({re.escape(decimal)}\d*)?$"


def tidied(frame: "pl.DataFrame", reading: Reading, is_text: bool) -> "pl.DataFrame":
    """The cells as they are meant: in a text file, an empty cell is missing, quoted or not."""
    pl = polars_module()
    if not (is_text or reading.strip or reading.missing):
        return frame
    for name, kind in frame.schema.items():
        if kind in (pl.String, pl.Categorical, pl.Enum):
            cells = frame[name].cast(pl.String)
            if reading.strip:
                cells = cells.str.strip_chars()
            if is_text and reading.thousands is not None:
                cells = _ungrouped(cells, reading.thousands, reading.decimal)
            nothing = [*reading.missing, *([""] if is_text or reading.strip else [])]
            blank = cells.is_in(nothing).fill_null(False)
            if blank.any():
                cells = cells.set(blank, None)
            frame = frame.with_columns(cells.alias(name))
    return frame


def _ungrouped(cells: "pl.Series", mark: str, decimal: str) -> "pl.Series":
    """Cells that are numbers without the mark between their thousands; all others as they are."""
    pl = polars_module()
    between = "[ \u00a0\u202f]" if mark == " " else re.escape(mark)
    name = pl.col(cells.name)
    plain = name.str.replace_all(between, "")
    is_grouped = name.str.contains(grouped(mark, decimal))
    chosen = pl.when(is_grouped).then(plain).otherwise(name)
    return cells.to_frame().select(chosen.alias(cells.name)).to_series()


def missing_cells(series: "pl.Series") -> "pl.Series":
    """Which cells are null or NaN, or are lists with such an entry."""
    pl = polars_module()
    missing = series.is_null()
    if series.dtype.is_float():
        return missing | series.is_nan().fill_null(False)
    if isinstance(series.dtype, pl.Array):
        series = series.arr.to_list()
    if isinstance(series.dtype, pl.List):
        entry, inner = pl.element(), series.dtype.inner
        lacks = entry.is_null()
        if inner is not None and inner.is_float():
            lacks = lacks | entry.is_nan()
        missing |= series.list.eval(lacks).list.any().fill_null(False)
    return missing


def refuse_missing(what: str, series: "pl.Series", rows: RowNumbers) -> None:
    """Raise an error if a cell is null or NaN."""
    missing = series.is_null()
    if series.dtype.is_float():
        missing |= series.is_nan().fill_null(False)
    if missing.any():
        refuse(what, series, rows, missing.arg_max() or 0, "not be missing")


def as_names(what: str, series: "pl.Series", rows: RowNumbers) -> "pl.Series":
    """The cells as strings or as 64-bit integers."""
    pl = polars_module()
    refuse_missing(what, series, rows)
    if series.dtype.is_integer():
        whole = series.cast(pl.Int64, strict=False)
        if whole.null_count():
            refuse(what, series, rows, whole.is_null().arg_max() or 0, "be below 2**63")
        return whole
    if series.dtype not in (pl.String, pl.Categorical, pl.Enum):
        refuse(what, series, rows, 0, "be a string or an integer")
    return series.cast(pl.String)


def as_lists(what: str, series: "pl.Series", rows: RowNumbers) -> "pl.Series":
    """The cells as lists; their entries may still be missing."""
    pl = polars_module()
    refuse_missing(what, series, rows)
    if isinstance(series.dtype, pl.Array):
        return series.arr.to_list()
    if not isinstance(series.dtype, pl.List):
        refuse(what, series, rows, 0, "be a list")
    return series
