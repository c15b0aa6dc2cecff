"""The rows of a log that are read, with their own numbers, and a count of those that are not."""

from typing import TYPE_CHECKING

import numpy as np

from hierbandits.logs.cells import missing_cells, tidied
from hierbandits.logs.columns import Columns
from hierbandits.logs.left_out import LeftOut
from hierbandits.logs.numbers import parsed_numbers
from hierbandits.logs.polars_import import polars_module
from hierbandits.logs.reading import Reading
from hierbandits.types import Indices, Mask

if TYPE_CHECKING:
    import polars as pl


class Cleaner:
    """Tidies the cells of one pass over a log and leaves out the rows that a `Reading` drops."""

    def __init__(
        self, columns: Columns, reading: Reading, is_text: bool, repeated: Indices
    ) -> None:
        self._columns, self._reading, self._is_text = columns, reading, is_text
        self._repeated = repeated  # rows that repeat earlier ones, sorted
        self.left_out = LeftOut()

    def clean(self, frame: "pl.DataFrame", start: int) -> "tuple[pl.DataFrame, Indices]":
        """The rows `start`, `start + 1`, ... that remain, and their numbers in the log."""
        rows = np.arange(start, start + frame.height)
        frame = tidied(frame, self._reading, self._is_text)
        keep = np.ones(rows.size, np.bool_)
        first, last = np.searchsorted(self._repeated, [start, start + frame.height])
        keep[self._repeated[first:last] - start] = False
        self.left_out.repeated += int(last - first)
        if self._reading.drop_missing:
            for name in frame.columns:
                missing = self._missing(frame[name]) & keep
                self.left_out.add_missing(name, int(missing.sum()))
                keep &= ~missing
        return (frame, rows) if keep.all() else (frame.filter(keep), rows[keep])

    def _missing(self, series: "pl.Series") -> Mask:
        """Missing cells; in a column of numbers the text NaN is missing too."""
        pl = polars_module()
        missing = missing_cells(series)
        if self._is_text and series.name in self._columns.numeric and series.dtype == pl.String:
            missing |= missing_cells(parsed_numbers(series, self._reading.decimal).fill_null(0.0))
        return np.asarray(missing.to_numpy(), np.bool_)
