"""Numbers for the names of one column: a name's number is its place among all names."""

from typing import TYPE_CHECKING

import numpy as np

from hierbandits.logs.cells import RowNumbers, as_names, refuse
from hierbandits.logs.polars_import import polars_module
from hierbandits.types import Indices, Name

if TYPE_CHECKING:
    import polars as pl


class Numbering:
    """Gives each name the place of its first appearance, and adds new names to a list.

    If names are `fixed`, all of them are in the list already and others are refused.
    """

    def __init__(
        self, what: str, names: list[Name], *, fixed: bool = False, text: bool = False
    ) -> None:
        self._what, self._names, self._fixed = what, names, fixed
        self._table: pl.DataFrame | None = None  # name and place
        if fixed:
            self._extend(polars_module().Series([str(name) for name in names] if text else names))

    def places(self, series: "pl.Series", rows: RowNumbers) -> Indices:
        """The place of each name, (E,)."""
        series = as_names(self._what, series, rows)
        if self._table is None:
            self._add(series.unique(maintain_order=True))
        assert self._table is not None
        if series.dtype != self._table["name"].dtype:
            kind = "integers" if self._table["name"].dtype.is_integer() else "strings"
            others = "the names given" if self._fixed else "those before it"
            refuse(self._what, series, rows, 0, f"be {kind}, as {others}")
        places = self._look_up(series)
        if places.null_count():
            unknown = places.is_null()
            if self._fixed:
                known = ", ".join(repr(name) for name in self._names[:10])
                known += ", ..." if len(self._names) > 10 else ""
                refuse(self._what, series, rows, unknown.arg_max() or 0, f"be one of {known}")
            self._add(series.filter(unknown).unique(maintain_order=True))
            places = self._look_up(series)
        return np.array(places.to_numpy(), np.intp)

    def _look_up(self, series: "pl.Series") -> "pl.Series":
        """The place of each name, null if it is new."""
        assert self._table is not None
        frame = series.rename("name").to_frame()
        return frame.join(self._table, on="name", how="left", maintain_order="left")["place"]

    def _add(self, new: "pl.Series") -> None:
        self._extend(new)
        self._names += new.to_list()

    def _extend(self, new: "pl.Series") -> None:
        first = 0 if self._table is None else self._table.height
        places = np.arange(first, first + new.len(), dtype=np.int64)
        more = polars_module().DataFrame({"name": new, "place": places})
        self._table = more if self._table is None else self._table.vstack(more)
