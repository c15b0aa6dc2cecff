"""How many rows of a log were left out, and why."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class LeftOut:
    """Rows that were left out in one pass over a log."""

    repeated: int = 0  # they repeat an earlier row, decision id and all
    missing: dict[str, int] = field(default_factory=dict)  # by the first column that lacks a cell

    def add_missing(self, column: str, count: int) -> None:
        """Count rows that lack a cell of this column."""
        if count:
            self.missing[column] = self.missing.get(column, 0) + count

    @property
    def total(self) -> int:
        """All rows that were left out."""
        return self.repeated + sum(self.missing.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {"repeated": self.repeated, "missing": dict(self.missing)}

    def __str__(self) -> str:
        parts = [f"{count:,} without {column!r}" for column, count in self.missing.items()]
        if self.repeated:
            parts.insert(0, f"{self.repeated:,} that repeat an earlier one")
        return ", ".join(parts) or "none"
