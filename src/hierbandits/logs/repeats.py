"""Decision ids that several rows have: copies of one row, or rows that contradict each other."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierbandits.logs.polars_import import polars_module
from hierbandits.types import Indices, Name

if TYPE_CHECKING:
    import polars as pl

Passes: TypeAlias = "Callable[[], Iterable[tuple[pl.DataFrame, Indices]]]"
"""Frames of rows with their numbers in the log, anew at each call."""

SHOWN = 5


class Repeat(NamedTuple):
    """A row whose decision id an earlier row has."""

    row: int
    first: int  # the row that has the id first
    id: Name
    same: bool  # whether both rows are equal


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """Rows whose decision id an earlier row has, by their numbers, sorted."""

    copies: Indices  # rows that are equal to the first of their id
    conflicts: Indices  # rows that are not
    shown: tuple[Repeat, ...]  # the first few of both

    @classmethod
    def of(cls, passes: Passes, column: str, hashes: NDArray[Any] | None = None) -> "Repeats":
        """Look for ids of this column that repeat.

        Equal hashes, of 8 bytes a row, may be equal ids; another pass looks at the ids themselves.
        `hashes` are those of all rows, if they are known.
        """
        if hashes is None:
            parts = [frame[column].hash().to_numpy() for frame, _ in passes()]
            hashes = np.concatenate([np.empty(0, np.uint64), *parts])
        every = np.sort(hashes)
        doubtful = np.unique(every[1:][every[1:] == every[:-1]])
        if doubtful.size == 0:
            return cls(np.empty(0, np.intp), np.empty(0, np.intp), ())
        pl, parts = polars_module(), []
        for frame, rows in passes():
            ids = frame[column]
            chosen = np.isin(ids.hash().to_numpy(), doubtful) & ids.is_not_null().to_numpy()
            some = frame.filter(chosen)
            parts.append(
                pl.DataFrame({"id": some[column], "row": rows[chosen], "content": some.hash_rows()})
            )
        first = pl.col("row", "content").first().over("id")
        table = (
            pl.concat(parts)
            .with_columns(first.name.prefix("first "))
            .filter(pl.col("row") != pl.col("first row"))
            .select("row", "first row", "id", same=pl.col("content") == pl.col("first content"))
        )
        copies, conflicts = table.filter("same"), table.filter(~pl.col("same"))
        shown = [*copies.head(SHOWN).iter_rows(), *conflicts.head(SHOWN).iter_rows()]
        return cls(
            np.asarray(copies["row"].to_numpy(), np.intp),
            np.asarray(conflicts["row"].to_numpy(), np.intp),
            tuple(Repeat(*each) for each in shown),
        )

    def refuse(self, column: str, *, copies: bool) -> None:
        """Raise an error if rows contradict each other; with `copies`, also if they are equal."""
        refused = sorted(each for each in self.shown if copies or not each.same)
        if refused:
            row, first, name, _ = refused[0]
            must = f"be different in every row (row {first} has it too)"
            if not copies:
                must = f"be different in rows that differ (row {first} has it too, and other cells)"
            raise ValueError(
                f"decision must {must}, got {name!r:.80} in column {column!r} at row {row}"
            )
