"""The cells of a column as numbers: rewards, features, propensities, and times of a CSV.

Text is read as polars reads it: a decimal point, and an exponent if there is one.  A decimal comma
("0,5") is not read but refused, with the row that has it.
"""

from typing import TYPE_CHECKING

import numpy as np

from hierbandits.checks import LARGEST, first_outside
from hierbandits.logs.cells import RowNumbers, refuse, refuse_missing
from hierbandits.logs.sources import polars_module
from hierbandits.types import Vector

if TYPE_CHECKING:
    import polars as pl


def is_number(text: str) -> bool:
    """Whether `as_numbers` can read this text."""
    return polars_module().Series([text]).cast(polars_module().Float64, strict=False)[0] is not None


def as_numbers(what: str, series: "pl.Series", rows: RowNumbers, text: bool = False) -> Vector:
    """Finite numbers, parsed if they are text."""
    pl, floats = polars_module(), series
    refuse_missing(what, series, rows)
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


def as_probabilities(series: "pl.Series", rows: RowNumbers, text: bool) -> Vector:
    """Propensities: numbers above 0 and at most 1."""
    array = as_numbers("propensity", series, rows, text)
    bad = np.flatnonzero((array <= 0) | (array > 1))
    if bad.size:
        refuse("propensity", series, rows, bad[0], "be in (0, 1]")
    return array
