"""How far a policy is rolled out: the share of tasks that it decides for, step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from hierbandits.checks import real_array

MOST_STEPS = 1000


class RampStep(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A share of all tasks, and for how many seconds; the last step stays."""

    share: float
    seconds: float | None = None


def check_steps(steps: Sequence[RampStep]) -> None:
    """Raise a ValueError unless these are steps of a ramp."""
    if not 0 < len(steps) <= MOST_STEPS:
        raise ValueError(f"steps must be 1 to {MOST_STEPS}, got {len(steps)}")
    last = 0.0
    for place, step in enumerate(steps):
        if not last < step.share <= 1:
            raise ValueError(f"shares of steps must grow, up to 1, got {step.share} after {last}")
        last = step.share
        if place < len(steps) - 1 and step.seconds is None:
            raise ValueError(f"seconds must be given for each step but the last, not for {place}")
        if step.seconds is not None and real_array("seconds", step.seconds, ()) <= 0:
            raise ValueError(f"seconds must be positive, got {step.seconds}")


@dataclass(slots=True)
class Ramp:
    """Where a ramp stands: it is a function of the events that changed it, and of their times.

    `phase` is "none", "ramping", "held", "done" or "rolled back".
    """

    phase: str = "none"
    share: float = 1.0
    """The share of tasks that the policy decides for."""
    base: int | None = None
    """The version that decides for the others; None if they have the control arm."""
    steps: list[tuple[float, float | None]] = field(default_factory=list)
    step: int = 0
    due: float | None = None
    """When the next step begins."""
    left: float | None = None
    """While it is held: the seconds until the next step, from when it goes on."""

    @property
    def acts(self) -> bool:
        """Whether the policy decides for anybody."""
        return self.share > 0

    def start(
        self, steps: Sequence[tuple[float, float | None]], now: float, base: int | None = None
    ) -> None:
        """Begin with the first step, from a version or, without one, from the control arm."""
        self.base = base
        self.steps, self.step = [(share, seconds) for share, seconds in steps], -1
        self.advance(now)

    def advance(self, now: float) -> None:
        """The next step begins; the last one is the end of the ramp."""
        self.step += 1
        self.share, seconds = self.steps[self.step]
        is_last = self.step == len(self.steps) - 1
        self.phase = "done" if is_last else "ramping"
        self.due, self.left = None if is_last or seconds is None else now + seconds, None
        if self.share == 1:
            self.base = None

    def hold(self, now: float) -> None:
        """Stay at this step."""
        self.phase = "held"
        self.due, self.left = None, None if self.due is None else max(0.0, self.due - now)

    def resume(self, now: float) -> None:
        """Go on with this step."""
        self.phase = "ramping"
        self.due, self.left = None if self.left is None else now + self.left, None

    def roll_back(self) -> None:
        """From now on all tasks have the control arm, or the version that decided before."""
        share = 0.0 if self.base is None else 1.0
        self.phase, self.share, self.due, self.left = "rolled back", share, None, None
        self.base = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Ramp":
        """What `to_dict` gave."""
        steps = [(share, seconds) for share, seconds in data["steps"]]
        return cls(**{**data, "steps": steps})
