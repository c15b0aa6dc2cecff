"""A metric that must stay within a bound, or the policy is rolled back."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from hierbandits.checks import real_array
from hierbandits.service.bounded_mean import BoundedMean
from hierbandits.service.mean_difference import MeanDifference
from hierbandits.types import Name

EXPOSURE = "exposure"
"""The metric that says that a decision was shown; any number will do."""
LONGEST_NAME = 100


class Guardrail(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A metric whose mean must be `at_most`, or `at_least`, some bound.

    Against "control" it is the difference to the mean of the control arm's decisions that must.
    Values lie in [low, high].  Those beyond the far end, on the side that is bad, count as that
    end: the guarantee holds for metrics with heavy tails, too.  Those beyond the other end are
    refused.
    """

    name: str
    at_most: float | None = None
    at_least: float | None = None
    low: float = 0.0
    high: float = 1.0
    against: Literal["bound", "control"] = "bound"

    def check(self) -> None:
        """Raise a ValueError that names what is wrong."""
        if not 0 < len(self.name) <= LONGEST_NAME or not self.name.isprintable():
            raise ValueError(
                f"name of a guardrail must be 1 to {LONGEST_NAME} printable characters, "
                f"got {self.name!r:.80}"
            )
        if self.name == EXPOSURE:
            raise ValueError(f"name of a guardrail must not be {EXPOSURE!r}")
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError(f"guardrail {self.name!r} must have one of at_most and at_least")
        real_array(f"low and high of guardrail {self.name!r}", (self.low, self.high), (2,))
        if self.against == "control":
            if not 0 <= self.margin < 1:
                raise ValueError(
                    f"guardrail {self.name!r} against control must have at_most of 0 or more, or "
                    f"at_least of 0 or less, and below high - low, got {self.bound}"
                )
        elif not self.low < self.bound < self.high:
            raise ValueError(
                f"bound of guardrail {self.name!r} must be between low and high, {self.low} and "
                f"{self.high}, got {self.bound}"
            )

    @property
    def bound(self) -> float:
        """What the mean must not cross."""
        bound = self.at_least if self.at_most is None else self.at_most
        assert bound is not None
        return bound

    @property
    def margin(self) -> float:
        """How much worse than the control it may be, in parts of high - low."""
        return (self.bound if self.at_most is not None else -self.bound) / (self.high - self.low)

    def check_value(self, value: float) -> None:
        """Raise a ValueError unless a value can be of this metric."""
        if self.at_most is None and value > self.high:
            raise ValueError(f"{self.name} must be at most {self.high}, got {value}")
        if self.at_most is not None and value < self.low:
            raise ValueError(f"{self.name} must be at least {self.low}, got {value}")

    def scaled(self, value: float) -> float:
        """A value in [0, 1], where more is worse."""
        part = (value - self.low) / (self.high - self.low)
        return min(1.0, part if self.at_most is not None else 1 - part)


class GuardrailWatch:
    """Watches one guardrail: what its metric was, and how sure it is that it is crossed."""

    def __init__(self, guardrail: Guardrail, alpha: float) -> None:
        self.guardrail, self._alpha = guardrail, alpha
        self._judge: BoundedMean | MeanDifference
        if guardrail.against == "control":
            self._judge = MeanDifference(guardrail.margin)
        else:
            self._judge = BoundedMean(guardrail.scaled(guardrail.bound))
        self.is_crossed = False
        self._side_sums, self._side_counts = [0.0, 0.0], [0, 0]  # of the policy, and of its control

    def add(self, value: float, *, is_control: bool = False) -> None:
        """One more value of a decision; once it is crossed, it stays so."""
        if self.is_crossed:
            return
        self._side_sums[is_control] += value
        self._side_counts[is_control] += 1
        scaled = self.guardrail.scaled(value)
        if isinstance(self._judge, MeanDifference):
            self._judge.add(scaled, is_control=is_control)
        elif not is_control:
            self._judge.add(scaled)
        self.is_crossed = bool(self._judge.evidence >= 1 / self._alpha)

    def told(self) -> dict[str, Any]:
        """For people."""
        means = [
            s / n if n else None for s, n in zip(self._side_sums, self._side_counts, strict=True)
        ]
        settings: dict[str, Any] = msgspec.to_builtins(self.guardrail)
        return settings | {
            "count": self._side_counts[0],
            "mean": means[0],
            "control_count": self._side_counts[1],
            "control_mean": means[1],
            "evidence": float(self._judge.evidence),
            "needed": 1 / self._alpha,
            "is_crossed": self.is_crossed,
        }

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "guardrail": msgspec.to_builtins(self.guardrail),
            "alpha": self._alpha,
            "is_crossed": self.is_crossed,
            "sums": list(self._side_sums),
            "counts": list(self._side_counts),
            "judge": self._judge.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "GuardrailWatch":
        """What `to_dict` gave."""
        watch = cls(msgspec.convert(data["guardrail"], Guardrail), data["alpha"])
        watch.is_crossed = data["is_crossed"]
        watch._side_sums, watch._side_counts = list(data["sums"]), list(data["counts"])
        watch._judge.restore(data["judge"])
        return watch


class Shown(msgspec.Struct, array_like=True):
    """An exposure that was seen: the arm, what was offered, and how likely each of these was."""

    arm: Name
    offered: list[Name]
    odds: list[float]
