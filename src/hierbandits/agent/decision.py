"""What an agent decided, and what can be wrong with a reward for it."""

from typing import NamedTuple

from hierbandits.types import Name, TaskName, Vector


class UnknownDecision(LookupError):
    """A reward names a decision that was never made, or has expired."""


class RewardConflict(ValueError):
    """A decision that has its reward is given another one."""


class Decision(NamedTuple):
    """An arm chosen for a task; its reward may come at any time, under its id."""

    id: str
    task: TaskName
    arm: Name  # the arm's name, or its number among those offered
    features: Vector | int  # (d,), or the arm's index when armed
    propensity: float | None  # how probable this arm was; None unless the agent has `draws`

    def __eq__(self, other: object) -> bool:
        """Decisions are the same if their ids are."""
        return isinstance(other, Decision) and self.id == other.id

    def __hash__(self) -> int:
        """By the id."""
        return hash(self.id)
