"""Something in a log that a person should know of, and what goes on from there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SHOWN_ROWS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A finding about a log: what it is, where, what it does to the answer, and what to do."""

    stops: bool  # whether the log is refused as it is
    column: str | None = None  # None: the log as a whole
    role: str | None = None  # of the column
    finding: str
    effect: str = ""
    remedy: str = ""
    count: int = 0  # how many rows have it; 0 where rows are not the point
    rows: tuple[int, ...] = ()  # the first of them, counted from 0
    fix: Mapping[str, Any] = field(default_factory=dict)  # fields of a `Reading` that go on

    @property
    def where(self) -> str:
        """The rows, as people read them."""
        if not self.rows:
            return ""
        shown = ", ".join(f"{row:,}" for row in self.rows)
        more = self.count - len(self.rows)
        return f"{'row' if self.count == 1 else 'rows'} {shown}" + (
            f" and {more:,} more" if more > 0 else ""
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "stops": self.stops,
            "column": self.column,
            "role": self.role,
            "finding": self.finding,
            "count": self.count,
            "rows": list(self.rows),
            "effect": self.effect,
            "remedy": self.remedy,
            "fix": dict(self.fix),
        }

    def __str__(self) -> str:
        column = "" if self.column is None else f"column {self.column!r}: "
        if self.role is not None:
            column = f"{self.role}, {column}"
        where = ""
        if self.rows:
            where = f" {self.where}" if self.finding.endswith(" in") else f" ({self.where})"
        parts = (f"{column}{self.finding}{where}.", self.effect, self.remedy)
        return " ".join(part for part in parts if part)
