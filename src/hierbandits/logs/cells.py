"""The cells of a column as numbers or names; what is wrong with one is said with its row."""

from typing import TYPE_CHECKING, NoReturn, TypeAlias

from hierbandits.logs.sources import polars_module
from hierbandits.types import Indices

if TYPE_CHECKING:
    import polars as pl

Rows: TypeAlias = "range | Indices"  # the source's row of each cell of a column


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


def as_lists(what: str, series: "pl.Series", rows: range) -> "pl.Series":
    """A column of lists, none of them missing."""
    pl = polars_module()
    filled(what, series, rows)
    if isinstance(series.dtype, pl.Array):
        return series.arr.to_list()
    if not isinstance(series.dtype, pl.List):
        refuse(what, series, rows, 0, "be a list")
    return series
