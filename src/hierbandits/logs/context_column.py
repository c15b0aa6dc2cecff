"""A column of the context: what its cells are, and the numbers that an encoder makes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hierbandits.checks import LARGEST
from hierbandits.logs.cells import RowNumbers, refuse, refuse_missing
from hierbandits.logs.numbers import as_numbers
from hierbandits.logs.polars_import import polars_module
from hierbandits.types import Matrix, Vector

if TYPE_CHECKING:
    import polars as pl

UNSEEN = -1.0
"""The cell of a value that the log never had."""

_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """Numbers, centred and scaled by the log: z = (value - mean) / std."""

    name: str
    mean: float
    std: float

    def __post_init__(self) -> None:
        _check_name(self.name)
        for part in (self.mean, self.std):
            if type(part) is not float or not isfinite(part) or abs(part) > LARGEST:
                raise ValueError(
                    f"mean and std must be finite numbers, got {part!r:.80} for {self.name!r}"
                )
        if self.std < 1 / LARGEST:
            raise ValueError(f"std must be positive, got {self.std} for {self.name!r}")

    @property
    def labels(self) -> tuple[str, ...]:
        """What each number of `coded` is called."""
        return (self.name,)

    @property
    def typical(self) -> float:
        """A value as the log has it on average."""
        return float(f"{self.mean:.3g}")

    def cell(self, value: Any) -> float:
        """A value of this column as a cell; one that is no number is refused."""
        plain = value.item() if isinstance(value, np.generic) else value
        if type(plain) not in (int, float):
            raise ValueError(
                f"context must have a number as the value of {self.name!r}, got {value!r:.80}"
            )
        if not abs(plain) <= LARGEST:  # NaN is not
            raise ValueError(
                f"context must have a value of at most {LARGEST:g} in size for {self.name!r}, got "
                f"{value!r:.80}"
            )
        return float(plain)

    def cells(self, series: "pl.Series", rows: RowNumbers, decimal: str | None) -> Vector:
        """The cells of a table's column, (E,); text is read as numbers if `decimal` is given."""
        if series.dtype == polars_module().Boolean:
            refuse("context", series, rows, 0, "be a number, as in the log")
        return as_numbers("context", series, rows, decimal)

    def coded(self, cells: Vector) -> Matrix:
        """The numbers of these cells, (E, 1)."""
        return ((cells - self.mean) / self.std)[:, None]

    def value(self, cell: float) -> float:
        """The opposite of `cell`."""
        return float(cell)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"name": self.name, "mean": self.mean, "std": self.std}


@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """Text or booleans: a number for each value but the first, z_j = [value is j] - share_j.

    The first value is the most frequent one.  So z is zero on average over the log, and a number's
    coefficient is how much its value differs from the first.  A value that the log never had has
    z = 0, as the average of the log has.
    """

    name: str
    values: tuple[str, ...] | tuple[bool, ...]  # the most frequent first
    shares: tuple[float, ...]  # of the log's rows

    def __post_init__(self) -> None:
        _check_name(self.name)
        kinds = {type(value) for value in self.values}
        if kinds not in ({str}, {bool}) or len(set(self.values)) < len(self.values):
            raise ValueError(
                "values must be distinct, and all of them text or all booleans, got "
                f"{self.values!r:.80} for {self.name!r}"
            )
        good = all(type(share) is float and 0 < share < 1 for share in self.shares)
        if not good or len(self.shares) != len(self.values) or abs(sum(self.shares) - 1) > 1e-9:
            raise ValueError(
                "shares must be one for each value, and sum to one, got "
                f"{self.shares!r:.80} for {self.name!r}"
            )

    @property
    def is_boolean(self) -> bool:
        """Whether values are booleans."""
        return isinstance(self.values[0], bool)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each number of `coded` is called."""
        return tuple(f"{self.name}={value}" for value in self.values[1:])

    @property
    def typical(self) -> str | bool:
        """The most frequent value."""
        return self.values[0]

    def cell(self, value: Any) -> float:
        """A value of this column as a cell; one of another kind is refused."""
        plain = value.item() if isinstance(value, np.generic) else value
        if type(plain) is not type(self.values[0]):
            kind = "True or False" if self.is_boolean else "text"
            raise ValueError(
                f"context must have {kind} as the value of {self.name!r}, got {value!r:.80}"
            )
        return float(self.values.index(plain)) if plain in self.values else UNSEEN

    def cells(self, series: "pl.Series", rows: RowNumbers, decimal: str | None) -> Vector:
        """The cells of a table's column, (E,); `decimal` is given where all cells are text."""
        pl = polars_module()
        refuse_missing("context", series, rows)
        is_text = series.dtype in (pl.String, pl.Categorical, pl.Enum)
        if self.is_boolean and is_text and decimal is not None:
            truths = series.cast(pl.String).str.to_lowercase()
            series = truths.replace_strict(_TRUTHS, default=None, return_dtype=pl.Boolean)
            odd = series.is_null().arg_max() or 0
            if series.null_count():
                refuse("context", truths.rename(series.name), rows, odd, "be true or false")
        elif self.is_boolean != (series.dtype == pl.Boolean) or not (self.is_boolean or is_text):
            refuse("context", series, rows, 0, f"be {'booleans' if self.is_boolean else 'text'}")
        known = pl.Series(list(self.values))
        places = pl.Series(np.arange(len(self.values), dtype=float))
        plain = series.cast(known.dtype)
        found = plain.replace_strict(known, places, default=UNSEEN, return_dtype=pl.Float64)
        return np.array(found.to_numpy())

    def coded(self, cells: Vector) -> Matrix:
        """The numbers of these cells, (E, values - 1)."""
        ones = cells[:, None] == np.arange(1, len(self.values))
        return np.where(cells[:, None] == UNSEEN, 0.0, ones - np.array(self.shares[1:]))

    def value(self, cell: float) -> str | bool | None:
        """The opposite of `cell`; None for a value that the log never had."""
        return None if cell == UNSEEN else self.values[int(cell)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"name": self.name, "values": list(self.values), "shares": list(self.shares)}


ContextColumn: TypeAlias = NumberColumn | CategoryColumn


def column_from_dict(parts: Any) -> ContextColumn:
    """The column that `to_dict` described, checked again."""
    if isinstance(parts, Mapping) and parts.keys() == {"name", "mean", "std"}:
        return NumberColumn(**parts)
    if isinstance(parts, Mapping) and parts.keys() == {"name", "values", "shares"}:
        values, shares = (_listed(parts[part]) for part in ("values", "shares"))
        return CategoryColumn(parts["name"], tuple(values), tuple(shares))
    raise ValueError(f"columns must be those of an encoder, got {parts!r:.80}")


def _listed(part: Any) -> Sequence[Any]:
    if not isinstance(part, list) or len(part) < 2:
        raise ValueError(f"columns must have lists of at least two values, got {part!r:.80}")
    return part


def _check_name(name: Any) -> None:
    if type(name) is not str:
        raise ValueError(f"name must be a column's name, a string, got {name!r:.80}")
