"""The cells of a column as numbers: rewards, features, propensities, and times that are numbers.

Text is read as polars reads it: a decimal point, and an exponent if there is one.  A decimal comma
("0,5") is read where it is asked for, and is refused elsewhere, with the row that has it.
"""

from typing import TYPE_CHECKING

import numpy as np

from hierbandits.checks import LARGEST, first_outside
from hierbandits.logs.cells import RowNumbers, refuse, refuse_missing
from hierbandits.logs.polars_import import polars_module
from hierbandits.types import Vector

if TYPE_CHECKING:
    import polars as pl


def parsed_numbers(series: "pl.Series", decimal: str) -> "pl.Series":
    """Text as numbers with this decimal mark; null where it is none."""
    pl = polars_module()
    if decimal == ",":
        pointed = series.str.contains(".", literal=True).fill_null(False)
        series = series.str.replace(",", ".", literal=True).set(pointed, None)
    return series.cast(pl.Float64, strict=False)


def is_number(text: str | None, decimal: str = ".") -> bool:
    """Whether `as_numbers` can read this text."""
    pl = polars_module()
    return parsed_numbers(pl.Series([text], dtype=pl.String), decimal)[0] is not None


def as_numbers(
    what: str, series: "pl.Series", rows: RowNumbers, decimal: str | None = None
) -> Vector:
    """Finite numbers; text is parsed if a decimal mark is given."""
    pl, floats = polars_module(), series
    refuse_missing(what, series, rows)
    if decimal is not None and series.dtype == pl.String:
        floats = parsed_numbers(series, decimal)
        if floats.null_count():
            place = floats.is_null().arg_max() or 0
            refuse(what, series, rows, place, _must(series[place], decimal))
    elif not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        refuse(what, series, rows, 0, "be a number")
    array = np.array(floats.cast(pl.Float64).to_numpy())
    bad = first_outside(array, LARGEST)
    if bad >= 0:
        refuse(what, series, rows, bad, f"be finite and at most {LARGEST:g} in size")
    return array


def as_probabilities(series: "pl.Series", rows: RowNumbers, decimal: str | None) -> Vector:
    """Propensities: numbers above 0 and at most 1."""
    array = as_numbers("propensity", series, rows, decimal)
    bad = np.flatnonzero((array <= 0) | (array > 1))
    if bad.size:
        refuse("propensity", series, rows, bad[0], "be in (0, 1]")
    return array


def _must(text: str, decimal: str) -> str:
    """What a cell that is no number should have been."""
    other = "," if decimal == "." else "."
    if is_number(text, other):
        return f"be a number with the decimal mark {decimal!r} (or read with decimal={other!r})"
    if text.strip().lower() in ("true", "false"):
        return "be a number, 1 for true and 0 for false"
    return "be a number"
