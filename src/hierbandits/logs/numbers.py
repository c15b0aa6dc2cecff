"""The cells of a column as numbers."""

from typing import TYPE_CHECKING

import numpy as np

from hierbandits.checks import LARGEST, first_outside
from hierbandits.logs.cells import Rows, filled, refuse
from hierbandits.logs.sources import polars_module
from hierbandits.types import Vector

if TYPE_CHECKING:
    import polars as pl


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
