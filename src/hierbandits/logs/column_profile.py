"""What one column of a log holds, whatever its role."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hierbandits.logs.cells import missing_cells
from hierbandits.logs.distinct_count import DistinctCount
from hierbandits.logs.numbers import parsed_numbers
from hierbandits.logs.polars_import import polars_module
from hierbandits.logs.problem import SHOWN_ROWS
from hierbandits.logs.times import from_iso
from hierbandits.types import Indices

if TYPE_CHECKING:
    import polars as pl

SEEN = 1_000  # cells that tell the kind of a column of text
EXAMPLES = 3


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ColumnProfile:
    """One column of a log."""

    name: str
    kind: str  # integers, numbers, text, dates, lists, booleans, or nothing
    distinct: int  # different cells, missing ones apart
    is_exact: bool  # whether that was counted, and not estimated
    num_rows: int
    num_missing: int
    missing_rows: tuple[int, ...]  # the first of them
    num_padded: int  # cells of text with spaces around it
    padded_rows: tuple[int, ...]
    least: float | None  # of numbers
    largest: float | None
    examples: tuple[str, ...]
    fingerprint: int  # equal for columns that are equal in every row

    @property
    def is_constant(self) -> bool:
        """Whether all rows have the same cell."""
        return self.distinct == 1 and self.num_missing == 0 and self.num_rows > 1

    @property
    def is_unique(self) -> bool:
        """Whether nearly every row has a cell of its own."""
        return 1 < self.distinct >= 0.97 * (self.num_rows - self.num_missing)

    def cells(self) -> list[str]:
        """The profile as a row of a table."""
        about = "" if self.is_exact else "about "
        scale = "" if self.least is None else f"{self.least:.4g} to {self.largest:.4g}"
        missing = f"{self.num_missing:,}" if self.num_missing else ""
        shown = ", ".join(self.examples)
        return [self.name, self.kind, f"{about}{self.distinct:,}", missing, scale, shown]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "name": self.name,
            "kind": self.kind,
            "distinct": self.distinct,
            "distinct_is_exact": self.is_exact,
            "missing": self.num_missing,
            "missing_rows": list(self.missing_rows),
            "least": self.least,
            "largest": self.largest,
            "examples": list(self.examples),
        }


class ColumnProfiler:
    """Looks at the cells of one column, batch by batch."""

    def __init__(self, name: str, decimal: str) -> None:
        self.name, self._decimal = name, decimal
        self._distinct = DistinctCount()
        self._rows = self._missing = self._padded = 0
        self._missing_rows: list[int] = []
        self._padded_rows: list[int] = []
        self._kinds: set[str] = set()
        self._range: tuple[float, float] | None = None
        self._examples: dict[str, None] = {}
        self._fingerprint = 0

    def add(self, series: "pl.Series", rows: Indices) -> None:
        """Add some cells, with the numbers of their rows."""
        pl = polars_module()
        missing = missing_cells(series).to_numpy()
        self._rows += rows.size
        self._missing += int(missing.sum())
        _keep(self._missing_rows, rows, missing)
        hashes = np.asarray(series.hash().to_numpy(), np.uint64)
        self._distinct.add(hashes[~missing])
        with np.errstate(over="ignore"):
            mixed = hashes * (2 * rows.astype(np.uint64) + np.uint64(1))
            self._fingerprint ^= int(np.bitwise_xor.reduce(mixed)) if mixed.size else 0
        known = series.filter(~missing)
        if known.is_empty():
            return
        if len(self._examples) < EXAMPLES:
            for cell in known.head(SEEN).unique(maintain_order=True).head(EXAMPLES).to_list():
                if len(self._examples) < EXAMPLES:
                    self._examples[_shown(cell)] = None
        numbers = known
        if series.dtype == pl.String:
            padded = (series != series.str.strip_chars()).fill_null(False).to_numpy()
            self._padded += int(padded.sum())
            _keep(self._padded_rows, rows, padded)
            numbers = parsed_numbers(known.str.strip_chars(), self._decimal)
            self._kinds.add(self._text_kind(known, numbers))
        else:
            self._kinds.add(_kind(series.dtype))
        if numbers.dtype.is_numeric() and self._kinds <= {"integers", "numbers"}:
            finite = numbers.cast(pl.Float64)
            finite = finite.filter(finite.is_finite())
            if finite.len():
                low, high = float(finite.min()), float(finite.max())  # type: ignore[arg-type]
                if self._range is not None:
                    low, high = min(low, self._range[0]), max(high, self._range[1])
                self._range = low, high

    def _text_kind(self, known: "pl.Series", numbers: "pl.Series") -> str:
        """What the cells of a text file stand for, if nearly all of them agree."""
        readable = numbers.is_not_null()
        if 2 * int(readable.sum()) > known.len():
            whole = numbers.filter(readable & numbers.is_finite().fill_null(False))
            return "integers" if bool((whole == whole.round()).all()) else "numbers"
        some = known.head(SEEN)
        dates = int(from_iso(some)[0].is_not_null().sum())
        return "dates" if 2 * dates > some.len() else "text"

    def profile(self) -> ColumnProfile:
        """What was seen."""
        kinds = self._kinds
        kind = "nothing" if not kinds else kinds.pop() if len(kinds) == 1 else "text"
        if kinds == {"integers", "numbers"}:
            kind = "numbers"
        return ColumnProfile(
            name=self.name,
            kind=kind,
            distinct=self._distinct.count,
            is_exact=self._distinct.is_exact,
            num_rows=self._rows,
            num_missing=self._missing,
            missing_rows=tuple(self._missing_rows),
            num_padded=self._padded,
            padded_rows=tuple(self._padded_rows),
            least=None if self._range is None else self._range[0],
            largest=None if self._range is None else self._range[1],
            examples=tuple(self._examples),
            fingerprint=self._fingerprint,
        )


def _keep(kept: list[int], rows: Indices, chosen: Any) -> None:
    """Keep the first of the chosen rows."""
    if len(kept) < SHOWN_ROWS:
        kept += rows[chosen][: SHOWN_ROWS - len(kept)].tolist()


def _shown(cell: Any) -> str:
    text = str(cell)
    return text if len(text) <= 24 else f"{text[:23]}…"


def _kind(dtype: "pl.DataType") -> str:
    pl = polars_module()
    if dtype.is_integer():
        return "integers"
    if dtype.is_numeric():
        return "numbers"
    if dtype in (pl.Date, pl.Datetime):
        return "dates"
    if isinstance(dtype, pl.List | pl.Array):
        return "lists"
    if dtype == pl.Boolean:
        return "booleans"
    return "text" if dtype in (pl.String, pl.Categorical, pl.Enum) else str(dtype).lower()
