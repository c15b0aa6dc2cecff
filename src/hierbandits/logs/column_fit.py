"""Learns what a column of the context is from the cells of a log, batch by batch."""

from typing import TYPE_CHECKING, Any, NoReturn

from hierbandits.checks import LARGEST
from hierbandits.logs.cells import RowNumbers, refuse, refuse_missing
from hierbandits.logs.context_column import CategoryColumn, ContextColumn, NumberColumn
from hierbandits.logs.numbers import as_numbers, parsed_numbers
from hierbandits.logs.polars_import import polars_module
from hierbandits.logs.reward_scale import RewardScale

if TYPE_CHECKING:
    import polars as pl

MOST_VALUES = 50
"""Different values of a column of text; one with more is refused."""

_MUST = f"be a number, or text of at most {MOST_VALUES} different values"


class ColumnFit:
    """The mean and the standard deviation of numbers, or how often each value occurs.

    Where all cells are text, as in a CSV file, a column is one of numbers if every cell is one.
    """

    def __init__(self, name: str, decimal: str | None) -> None:
        self._name, self._decimal = name, decimal
        self._scale = RewardScale()
        self._counts: dict[Any, int] = {}
        self._is_number: bool | None = None  # None before the first cell

    def add(self, series: "pl.Series", rows: RowNumbers) -> None:
        """Add the cells of a batch; the first that is missing or of no use is refused."""
        pl = polars_module()
        refuse_missing("context", series, rows)
        if series.dtype.is_numeric():
            self._is_number = True
            self._scale.add(as_numbers("context", series, rows))
        elif series.dtype == pl.Boolean:
            self._is_number = False
            self._count(series, rows)
        elif series.dtype in (pl.String, pl.Categorical, pl.Enum):
            self._add_text(series.cast(pl.String), rows)
        else:
            refuse("context", series, rows, 0, "be a number, text or a boolean")

    def _add_text(self, series: "pl.Series", rows: RowNumbers) -> None:
        """Text is numbers until one is met that is none."""
        if self._is_number is not False and self._decimal is not None:
            floats = parsed_numbers(series, self._decimal)
            if not floats.null_count():
                self._is_number = True
                self._scale.add(as_numbers("context", series, rows, self._decimal))
                if len(self._counts) <= MOST_VALUES:
                    self._tell(series)
                return
            if len(self._counts) > MOST_VALUES:
                refuse("context", series, rows, floats.is_null().arg_max() or 0, _MUST)
        self._is_number = False
        self._count(series, rows)

    def _count(self, series: "pl.Series", rows: RowNumbers) -> None:
        self._tell(series)
        if len(self._counts) > MOST_VALUES:
            latest = list(self._counts)[MOST_VALUES]
            met = (series == latest).arg_max() or 0
            refuse("context", series, rows, met, _MUST)

    def _tell(self, series: "pl.Series") -> None:
        """Count the cells of each value, values in order of appearance."""
        cells = series.rename("value").to_frame()
        for value, count in cells.group_by("value", maintain_order=True).len().iter_rows():
            self._counts[value] = self._counts.get(value, 0) + count

    def column(self) -> ContextColumn:
        """What was learned; a column that never varies is refused."""
        if self._is_number:
            scale = self._scale
            if scale.num_values < 2 or not scale.std > 1 / LARGEST:
                self._refuse_constant(scale.mean)
            return NumberColumn(self._name, float(scale.mean), float(scale.std))
        ordered = sorted(self._counts, key=lambda value: (-self._counts[value], str(value)))
        if len(ordered) < 2:
            self._refuse_constant(ordered[0])
        total = sum(self._counts.values())
        shares = tuple(self._counts[value] / total for value in ordered)
        return CategoryColumn(self._name, tuple(ordered), shares)

    def _refuse_constant(self, value: Any) -> NoReturn:
        raise ValueError(
            f"context must vary, got {value!r:.80} in every row of column {self._name!r}: leave "
            "that column out"
        )
