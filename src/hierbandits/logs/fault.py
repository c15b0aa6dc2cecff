"""A kind of bad cell in one column of a log, and the rows that have it."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from hierbandits.logs.problem import SHOWN_ROWS
from hierbandits.types import Indices, Mask

if TYPE_CHECKING:
    import polars as pl

MOST_WORDS = 50

Kind: TypeAlias = Literal["missing", "number", "finite", "other"]


@dataclass(slots=True)
class Fault:
    """Cells of a column that are refused for one reason."""

    role: str
    column: str
    kind: Kind
    must: str  # what the cells should have been
    count: int = 0
    rows: list[int] = field(default_factory=list)  # the first of them
    words: Counter[str] = field(default_factory=Counter)  # some of the cells

    def add(self, series: "pl.Series", rows: Indices, bad: Mask) -> None:
        """Add the bad cells of a batch."""
        self.count += int(bad.sum())
        if len(self.rows) < SHOWN_ROWS:
            self.rows += rows[bad][: SHOWN_ROWS - len(self.rows)].tolist()
        for cell in series.filter(bad).head(1000).to_list():
            text = str(cell)
            if text in self.words or len(self.words) < MOST_WORDS:
                self.words[text] += 1

    @property
    def examples(self) -> str:
        """Some of the cells, as people read them."""
        return ", ".join(f"{word!r:.40}" for word in list(self.words)[:3])


class Faults:
    """All faults of a log, in the order in which they are met."""

    def __init__(self) -> None:
        self._all: dict[tuple[str, str, str], Fault] = {}

    def add(
        self,
        role: str,
        kind: Kind,
        must: str,
        series: "pl.Series",
        rows: Indices,
        bad: Mask,
    ) -> None:
        """Add bad cells, if there are any."""
        if np.any(bad):
            key = (role, series.name, must)
            fault = self._all.setdefault(key, Fault(role, series.name, kind, must))
            fault.add(series, rows, bad)

    @property
    def all(self) -> list[Fault]:
        """Each fault once."""
        return list(self._all.values())
