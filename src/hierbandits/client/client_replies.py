"""What the service replies, as plain records."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from hierbandits.client.client_errors import ServiceError
from hierbandits.types import Name, TaskName

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServedDecision:
    """What the service decided; its reward goes with its id."""

    id: str
    task: TaskName
    arm: Name
    propensity: float | None
    version: int  # of the policy
    group: str = "policy"  # or "control", "sticky", "shadow"
    gap: float | None = None  # how far the arm's expected reward is below the highest
    would: Name | None = None  # in shadow mode: what the policy would have played
    duplicate: bool = False  # whether it was made before, by the same request


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """All that the service keeps of a decision."""

    id: str
    task: TaskName
    arm: Name
    propensity: float | None
    time: float  # when it was made, in seconds since 1970
    offered: tuple[Name, ...]
    policy_version: int
    group: str = "policy"
    gap: float | None = None
    would: Name | None = None
    reward: float | None = None
    provisional: bool = False  # whether the reward is a default, until its own comes


@dataclass(frozen=True, slots=True)
class RewardReceipt:
    """What became of a reward: "learned", "duplicate" or "corrected"."""

    id: str
    status: str


@dataclass(frozen=True, slots=True)
class PolicyInfo:
    """A policy: what it is told to be, and what it has done."""

    name: str
    version: int
    settings: Mapping[str, Any]
    created: float
    tasks: int
    events: int
    rewards: int
    pending: int
    arms: tuple[Name, ...] | None = None


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """The version that a policy has after a change; `created` says whether the policy is new."""

    name: str
    version: int
    created: bool


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """What a policy was told to be, from the event after `after_event` on."""

    version: int
    after_event: int
    created: float
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TaskPage:
    """Some tasks by name, and how many there are in all."""

    total: int
    tasks: tuple[TaskName, ...]


@dataclass(frozen=True, slots=True)
class BeliefRow:
    """What is known of one arm, or of one feature, in a task."""

    mean: float
    low: float
    high: float
    within_var: float  # what only the task's own rewards can remove
    shared_var: float  # what rewards of other tasks can remove too
    rewards: int
    arm: Name | None = None
    feature: Name | None = None


@dataclass(frozen=True, slots=True)
class TaskBelief:
    """What is known of a task; its values lie in their intervals with `confidence`."""

    task: TaskName
    confidence: float
    decisions: int
    rows: tuple[BeliefRow, ...]


def record(kind: type[T], parts: Any) -> T:
    """A record of these parts; parts that it does not know are left out."""
    if not isinstance(parts, Mapping):
        raise not_understood(parts)
    known = fields(kind)  # type: ignore[arg-type]
    if any(one.default is MISSING and one.name not in parts for one in known):
        raise not_understood(parts)
    return kind(**{one.name: _frozen(parts[one.name]) for one in known
                   if one.name in parts})  # fmt: skip


def records(kind: type[T], rows: Any) -> list[T]:
    """A record for each row."""
    if not isinstance(rows, list):
        raise not_understood(rows)
    return [record(kind, row) for row in rows]


def task_page(parts: Any) -> TaskPage:
    """A page of tasks; a path of names is a tuple."""
    page = record(TaskPage, parts)
    return TaskPage(page.total, tuple(_frozen(task) for task in page.tasks))


def task_belief(parts: Any) -> TaskBelief:
    """The belief of a task with its rows."""
    found = record(TaskBelief, parts)
    rows = tuple(records(BeliefRow, list(found.rows)))
    return TaskBelief(found.task, found.confidence, found.decisions, rows)


def not_understood(what: Any) -> ServiceError:
    """The reply is not of this service, or of one that this client does not know."""
    return ServiceError(f"the reply must be of a hierbandits service, got {what!r:.80}")


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
