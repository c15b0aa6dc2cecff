"""The totals of a log's sums, by which a prior knows the log that it was learned from."""

from dataclasses import dataclass
from math import isclose, sqrt
from typing import Any

import numpy as np

from hierbandits.checks import state_array
from hierbandits.types import Matrix, Vector

TOLERANCE = 1e-9
"""How far totals of one log may differ, against what they could be: by far more than rounding."""


@dataclass(frozen=True, slots=True)
class LogTotals:
    """What no order of rows, tasks or arms changes in the sums of a log.

    `coordinates` has a sorted row for each feature or arm that has events: its xx and xy, and a
    sum over tasks that is no polynomial, since those of small integers are often the same.
    """

    n: float  # the number of rows
    yy: float  # the sum of squared rewards
    coordinates: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, xx: Matrix, xy: Matrix, yy: Vector, n: Vector) -> "LogTotals":
        """From the squares of each task's features (or counts of arms), X'Y, Y'Y and n."""
        squares, most = xx.sum(axis=0), yy.sum()
        whole = np.sqrt(squares * most)
        mixed = xy / np.where(whole > 0, whole, 1.0)  # of a task, in irrational proportions
        mixed = mixed + sqrt(2) * xx / np.where(squares > 0, squares, 1.0)
        mixed = np.expm1(mixed + sqrt(3) * yy[:, None] / (most or 1.0))
        table = np.stack([squares, xy.sum(axis=0), mixed.sum(axis=0)], axis=1)
        rows = sorted(tuple(row) for row in table.tolist() if row[0] > 0)
        return cls(float(n.sum()), float(yy.sum()), tuple(rows))

    def same_log(self, other: "LogTotals") -> bool:
        """Whether both are the totals of one log, but for rounding."""
        if round(self.n) != round(other.n) or len(self.coordinates) != len(other.coordinates):
            return False
        if not isclose(self.yy, other.yy, rel_tol=TOLERANCE):
            return False
        for own, its in zip(self.coordinates, other.coordinates, strict=True):
            whole = sqrt(own[0] * self.yy)  # sums may cancel, so errors are relative to this
            sizes = own[0], whole, 1 + abs(own[2])
            for one, another, size in zip(own, its, sizes, strict=True):
                if not abs(one - another) <= TOLERANCE * size:
                    return False
        return True

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        rows = [list(row) for row in self.coordinates]
        return {"n": self.n, "yy": self.yy, "coordinates": rows}

    @classmethod
    def from_dict(cls, parts: dict[str, Any]) -> "LogTotals":
        """What `to_dict` described, checked."""
        names = ("n", "yy", "coordinates")
        if not isinstance(parts, dict) or set(parts) != set(names):
            raise ValueError(f"parts of learned_from must be {', '.join(names)}, got {parts!r:.80}")
        n, yy = (float(state_array(f"learned_from {name}", parts[name], ())) for name in names[:2])
        given = parts["coordinates"] or np.empty((0, 3))
        rows = state_array("learned_from coordinates", given, (None, 3))
        return cls(n, yy, tuple(tuple(row) for row in rows.tolist()))
