"""Numbers for the names of one column: a name's number is its place among all names."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hierbandits.logs.cells import RowNumbers, as_names, refuse
from hierbandits.logs.names import look_of
from hierbandits.logs.polars_import import polars_module
from hierbandits.types import Indices, Name

if TYPE_CHECKING:
    import polars as pl


class Numbering:
    """Gives each name the place of its first appearance, and adds new names to a list.

    If names are `fixed`, all of them are in the list already and others are refused.  To `merge`
    is to give names that look alike the place of the first of them.
    """

    def __init__(
        self,
        what: str,
        names: list[Name],
        *,
        fixed: bool = False,
        text: bool = False,
        merge: bool = False,
    ) -> None:
        self._what, self._names, self._fixed = what, names, fixed
        self._looks: dict[str, int] | None = {} if merge else None  # their places
        self._table: pl.DataFrame | None = None  # name and place
        if fixed:
            known = polars_module().Series([str(name) for name in names] if text else names)
            self._extend(known, np.arange(known.len(), dtype=np.int64))
            if self._looks is not None and known.dtype == polars_module().String:
                for place, name in enumerate(known.to_list()):
                    self._looks.setdefault(look_of(name), place)

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
        if places.null_count() and self._fixed and self._looks:
            self._merge(series.filter(places.is_null()).unique(maintain_order=True))
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
        """Add names to the list, but those that look like one of them."""
        names = new.to_list()
        if self._looks is None or new.dtype != polars_module().String:
            first = len(self._names)
            self._extend(new, np.arange(first, first + new.len(), dtype=np.int64))
            self._names += names
            return
        for name in names:
            if self._looks.setdefault(look_of(name), len(self._names)) == len(self._names):
                self._names.append(name)
        self._merge(new)

    def _merge(self, new: "pl.Series") -> None:
        """Give names that look like a known one its place."""
        assert self._looks is not None
        found = [self._looks.get(look_of(name), -1) for name in new.to_list()]
        places = np.array(found, np.int64)
        self._extend(new.filter(places >= 0), places[places >= 0])

    def _extend(self, new: "pl.Series", places: NDArray[np.int64]) -> None:
        more = polars_module().DataFrame({"name": new, "place": places})
        self._table = more if self._table is None else self._table.vstack(more)
