"""The names of tasks, arms and populations that are met in a log."""

from typing import TYPE_CHECKING

import numpy as np

from hierbandits.logs.cells import Rows, named_cells, refuse
from hierbandits.logs.sources import polars_module
from hierbandits.types import Indices, Name

if TYPE_CHECKING:
    import polars as pl

from collections.abc import Sequence


class Names:
    """The names met so far, in order of first appearance: a batch's numbers are places in them."""

    def __init__(self, arms: Sequence[Name] | None) -> None:
        self.tasks: list[Name] = []
        self.arms: list[Name] = list(arms or ())
        self.populations: list[Name] = []
        self.population = np.empty(0, np.intp)  # that of each task


class Numbering:
    """Gives each name the place of its first appearance."""

    def __init__(
        self, what: str, names: list[Name], *, fixed: bool = False, text: bool = False
    ) -> None:
        self._what, self._names, self._fixed = what, names, fixed
        self._table: pl.DataFrame | None = None
        if fixed:
            self._extend(polars_module().Series([str(name) for name in names] if text else names))

    def places(self, series: "pl.Series", rows: Rows) -> Indices:
        """The place of each name; new names are added unless they are fixed."""
        series = named_cells(self._what, series, rows)
        if self._table is None:
            self._add(series.unique(maintain_order=True))
        assert self._table is not None
        if series.dtype != self._table["name"].dtype:
            kind = "integers" if self._table["name"].dtype.is_integer() else "strings"
            others = "the names given" if self._fixed else "those before it"
            refuse(self._what, series, rows, 0, f"be {kind}, as {others}")
        found = self._find(series)
        if found.null_count():
            unknown = found.is_null()
            if self._fixed:
                known = ", ".join(repr(name) for name in self._names[:10])
                known += ", ..." if len(self._names) > 10 else ""
                refuse(self._what, series, rows, unknown.arg_max() or 0, f"be one of {known}")
            self._add(series.filter(unknown).unique(maintain_order=True))
            found = self._find(series)
        return np.array(found.to_numpy(), np.intp)

    def _find(self, series: "pl.Series") -> "pl.Series":
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
