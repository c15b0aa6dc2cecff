"""The totals of a log's sums, by which a prior knows the log that it was learned from."""

from dataclasses import asdict, dataclass
from math import isclose, sqrt
from typing import Any

from hierbandits.checks import state_array

TOLERANCE = 1e-6
"""How far totals of one log may differ: by far more than rounding, and less than a row."""


@dataclass(frozen=True, slots=True)
class LogTotals:
    """What no order of rows, tasks or arms changes in the sums of a log."""

    n: float  # the number of rows
    yy: float  # the sum of squared rewards
    xx: float  # the norm of X'X, all tasks together
    xy: float  # the norm of X'Y, all tasks together

    def same_log(self, other: "LogTotals") -> bool:
        """Whether both are the totals of one log, but for rounding."""
        whole = sqrt(self.xx * self.yy)  # X'Y may cancel, so its error is relative to this
        return (
            round(self.n) == round(other.n)
            and isclose(self.yy, other.yy, rel_tol=TOLERANCE)
            and isclose(self.xx, other.xx, rel_tol=TOLERANCE)
            and isclose(self.xy, other.xy, rel_tol=TOLERANCE, abs_tol=TOLERANCE * whole)
        )

    def to_dict(self) -> dict[str, float]:
        """Plain numbers, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, parts: dict[str, Any]) -> "LogTotals":
        """What `to_dict` described, checked."""
        names = ("n", "yy", "xx", "xy")
        if not isinstance(parts, dict) or set(parts) != set(names):
            raise ValueError(f"learned_from must hold {', '.join(names)}, got {parts!r:.80}")
        return cls(*(float(state_array(f"learned_from {name}", parts[name], ())) for name in names))
