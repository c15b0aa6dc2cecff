"""An encoder: the features of an arm for whoever comes, the same for the same row for ever."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hierbandits.checks import checked_names
from hierbandits.logs.cells import RowNumbers, tidied
from hierbandits.logs.column_fit import ColumnFit
from hierbandits.logs.columns import check_columns
from hierbandits.logs.context_column import (
    CategoryColumn,
    ContextColumn,
    NumberColumn,
    column_from_dict,
)
from hierbandits.logs.numbering import Numbering
from hierbandits.logs.reading import AS_IT_IS
from hierbandits.logs.sources import column_names, frames, opened
from hierbandits.types import Indices, Matrix, Name, Vector

if TYPE_CHECKING:
    import polars as pl

MOST_FEATURES = 1000
"""Features of an encoder; one with more is refused."""

_BATCH_ROWS = 1 << 17


@dataclass(frozen=True, slots=True)
class Encoder:
    """Turns a context and an arm into features, so that every arm has effects of its own.

        x = (0, ..., 0, 1, z, 0, ..., 0)       (1, z) in the place of the arm

    z holds the context: numbers, centred and scaled by the log's mean and standard deviation, and
    for text and booleans a number for each value but the most frequent.  All of z is zero on
    average over the log.  So theta holds for each arm its mean reward in the average context, and
    how each part of the context changes it.  A value of text that the log never had counts as the
    average.  A start and an agent keep their encoder, so that a row has the same x for ever.
    """

    arm: str  # what arms are called: the log's column
    arms: tuple[Name, ...]
    columns: tuple[ContextColumn, ...]

    def __post_init__(self) -> None:
        if type(self.arm) is not str:
            raise ValueError(f"arm must be the name of a column, got {self.arm!r:.80}")
        object.__setattr__(self, "arms", tuple(checked_names("arms", self.arms)))
        object.__setattr__(self, "columns", tuple(self.columns))
        for column in self.columns:
            if not isinstance(column, NumberColumn | CategoryColumn):
                raise ValueError(f"columns must be columns of a context, got {column!r:.80}")
        names = self.context
        if not self.arms or not names or len(set(names)) < len(names):
            raise ValueError(
                "encoder must have arms, and different columns of context, got "
                f"{self.arms!r:.80} and {names!r:.80}"
            )
        if self.dim > MOST_FEATURES:
            widest = max(self.columns, key=lambda column: len(column.labels))
            raise ValueError(
                f"encoder must have at most {MOST_FEATURES:,} features, got {self.dim:,} of "
                f"{len(self.arms)} arms x {self.width} numbers of context: leave out columns "
                f"({widest.name!r} has {len(widest.labels)} numbers), or arms"
            )

    @classmethod
    def fit(
        cls,
        source: Any,
        *,
        arm: str,
        context: Sequence[str],
        arms: Sequence[Name] | None = None,
    ) -> "Encoder":
        """Learn the encoder of a table, in one pass; rewards play no part.

        `source` is any that `hb.Log.read` takes, `arm` its column of arms, and `context` names
        columns of numbers, text or booleans.  `arms` are those that occur, unless given.
        """
        table, is_text = opened(source, names=[arm, *context])
        fit = EncoderFit(context, "." if is_text else None)
        names = [arm, *fit.context]
        check_columns(names, column_names(table))
        met, start = list(arms or ()), 0
        numbering = Numbering("arm", met, fixed=arms is not None, text=is_text)
        for frame in frames(table, list(dict.fromkeys(names)), _BATCH_ROWS):
            rows, tidy = range(start, start + frame.height), tidied(frame, AS_IT_IS, is_text)
            numbering.places(tidy[arm], rows)
            fit.add(tidy, rows)
            start += frame.height
        return fit.encoder(arm, met)

    @property
    def context(self) -> tuple[str, ...]:
        """The columns of the context."""
        return tuple(column.name for column in self.columns)

    @property
    def width(self) -> int:
        """The numbers of a context, the 1 included."""
        return 1 + sum(len(column.labels) for column in self.columns)

    @property
    def dim(self) -> int:
        """The number of features d: arms x width."""
        return len(self.arms) * self.width

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What each feature is, in words: "promo=B" and "promo=B × age"."""
        parts = ["", *(f" × {label}" for column in self.columns for label in column.labels)]
        return tuple(f"{self.arm}={arm}{part}" for arm in self.arms for part in parts)

    @property
    def typical(self) -> dict[str, float | str | bool]:
        """A context as the log has them: its mean numbers and its most frequent values."""
        return {column.name: column.typical for column in self.columns}

    def encode(self, rows: Any, arms: Sequence[Name] | None = None) -> Matrix:
        """The features of every arm for these contexts, or those of one arm for each.

        `rows` is one context, a mapping from column to value, which gives (K, d); or several in a
        list or a table, which give (E, K, d).  With `arms`, the arm of each row, it is (E, d).
        """
        if isinstance(rows, Mapping):
            table: Matrix = self._raw_tables(self.cells_of(rows)[None])[0]
            return table if arms is None else table[self.places(arms)[0]]
        if isinstance(rows, list | tuple) and all(isinstance(row, Mapping) for row in rows):
            cells = np.array([self.cells_of(row) for row in rows]).reshape(len(rows), -1)
        else:
            source, is_text = opened(rows, names=self.context)
            decimal, parts, start = "." if is_text else None, [], 0
            for frame in frames(source, list(self.context), _BATCH_ROWS):
                some = range(start, start + frame.height)
                parts.append(self.cells(tidied(frame, AS_IT_IS, is_text), some, decimal))
                start += frame.height
            cells = np.concatenate([np.empty((0, len(self.columns))), *parts])
        if arms is None:
            return self._raw_tables(cells)
        places = self.places(arms)
        if places.size != len(cells):
            raise ValueError(f"arms must be one for each of {len(cells)} rows, got {places.size}")
        return self._raw_features(cells, places)

    def places(self, arms: Sequence[Name]) -> Indices:
        """The place of each of these arms among the encoder's."""
        names = [arms] if isinstance(arms, str | int) else arms
        known = {name: place for place, name in enumerate(self.arms)}
        for name in names:
            if not isinstance(name, str | int | np.integer) or name not in known:
                some = ", ".join(repr(one) for one in self.arms[:5])
                raise ValueError(f"arms must be among the encoder's ({some}), got {name!r:.80}")
        return np.array([known[name] for name in names], np.intp)

    def cells_of(self, context: Mapping[str, Any]) -> Vector:
        """The cells of one context, (columns,); other keys than the encoder's are refused."""
        if not isinstance(context, Mapping):
            raise ValueError(f"context must be a mapping from column to value, got {context!r:.80}")
        names = self.context
        if context.keys() != set(names):
            missing = [name for name in names if name not in context]
            odd = [key for key in context if key not in names]
            what = f"none for {missing[0]!r}" if missing else f"another, {odd[0]!r:.80}"
            raise ValueError(f"context must have a value for each column, {names!r}, got {what}")
        return np.array([column.cell(context[column.name]) for column in self.columns])

    def cells(self, frame: "pl.DataFrame", rows: RowNumbers, decimal: str | None) -> Matrix:
        """The cells of the rows of a table, (E, columns); `decimal` is given where all is text."""
        for name in self.context:
            if name not in frame.columns:
                raise ValueError(
                    f"context must be columns of the table, {frame.columns!r:.200}, got {name!r}"
                )
        each = [column.cells(frame[column.name], rows, decimal) for column in self.columns]
        return np.stack(each, axis=1)

    def _raw_values(self, cells: Vector) -> dict[str, Any]:
        """The context of these cells, (columns,); None for values that the log never had."""
        each = zip(self.columns, cells.tolist(), strict=True)
        return {column.name: column.value(cell) for column, cell in each}

    def _raw_contexts(self, cells: Matrix) -> Matrix:
        """The numbers (1, z) of these cells, (E, width)."""
        parts = [column.coded(cells[:, j]) for j, column in enumerate(self.columns)]
        return np.concatenate([np.ones((len(cells), 1)), *parts], axis=1)

    def _raw_features(self, cells: Matrix, places: Indices) -> Matrix:
        """The features of these arms, (E,), for these cells: (E, d)."""
        x = np.zeros((len(cells), len(self.arms), self.width))
        x[np.arange(len(cells)), places] = self._raw_contexts(cells)
        return x.reshape(len(cells), self.dim)

    def _raw_tables(self, cells: Matrix) -> Matrix:
        """The features of all arms for these cells, (E, K, d)."""
        num_arms, own = len(self.arms), np.arange(len(self.arms))
        x = np.zeros((len(cells), num_arms, num_arms, self.width))
        x[:, own, own] = self._raw_contexts(cells)[:, None]
        return x.reshape(len(cells), num_arms, self.dim)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        columns = [column.to_dict() for column in self.columns]
        return {"arm": self.arm, "arms": list(self.arms), "columns": columns}

    @classmethod
    def from_dict(cls, parts: Any) -> "Encoder":
        """The encoder that `to_dict` described, checked again."""
        if not isinstance(parts, Mapping) or parts.keys() != {"arm", "arms", "columns"}:
            raise ValueError(f"parts must be the arm, arms and columns of one, got {parts!r:.80}")
        if not isinstance(parts["arms"], list) or not isinstance(parts["columns"], list):
            raise ValueError(f"parts must have lists of arms and of columns, got {parts!r:.80}")
        columns = tuple(column_from_dict(column) for column in parts["columns"])
        return cls(parts["arm"], tuple(parts["arms"]), columns)

    def __repr__(self) -> str:
        columns = ", ".join(self.context)
        return f"<Encoder of {len(self.arms)} arms × (1, {columns}): {self.dim} features>"


class EncoderFit:
    """An encoder in the making, which sees a log batch by batch."""

    def __init__(self, context: Sequence[str], decimal: str | None) -> None:
        """`decimal` is the mark of numbers where all cells are text."""
        if isinstance(context, str):
            raise ValueError(f"context must be a sequence of columns, got {context!r:.80}")
        self.context = list(context)
        self._fits = [ColumnFit(name, decimal) for name in self.context]
        self._num_rows = 0

    def add(self, frame: "pl.DataFrame", rows: RowNumbers) -> None:
        """Learn these rows."""
        self._num_rows += frame.height
        if frame.height:
            for name, fit in zip(self.context, self._fits, strict=True):
                fit.add(frame[name], rows)

    def encoder(self, arm: str, arms: Sequence[Name]) -> Encoder:
        """What all rows make, with these arms."""
        if self._num_rows == 0:
            raise ValueError("source must have at least one row, got none")
        return Encoder(arm, tuple(arms), tuple(fit.column() for fit in self._fits))
