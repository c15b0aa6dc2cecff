"""What the service replies, as plain records."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, TypeVar

from hierbandits.client.client_errors import ServiceError, error_of
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
    group: str = "policy"  # or "previous", "control", "sticky", "shadow"
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
class MetricsReceipt:
    """What became of metrics by name: "stored" or "duplicate"."""

    id: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RolloutInfo:
    """Where a rollout stands, and what its guardrails and its sample ratio say."""

    phase: str  # "none", "ramping", "held", "done" or "rolled back"
    share: float  # of tasks that the policy decides for
    previous: int | None  # the version that decides for the others, while a candidate is ramped
    steps: tuple[Mapping[str, Any], ...]
    step: int
    next_step: float | None  # when it begins, in seconds since 1970
    guardrails: tuple[Mapping[str, Any], ...]
    sample_ratio: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class PromotionInfo:
    """Where a candidate stands: the step that it has reached, and the one that comes next."""

    step: str | None
    next: str
    evaluation: str | None = None
    verdict: str | None = None
    shadow: str | None = None  # the policy in the shadow
    shown: int = 0  # decisions that it was shown lately
    agreed: int = 0  # of these, how often it would have done the same


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Some changes of a policy, the last one first, and how many there are in all."""

    total: int
    changes: tuple[Mapping[str, Any], ...]


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


@dataclass(frozen=True, slots=True)
class RewardInterval:
    """A mean reward, or a difference of two, with its interval; None where rows do not tell."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class JudgedPolicy:
    """What one policy earns per decision, and how much more than others on the same rows."""

    policy: str  # "candidate", "logged" or "best arm"
    reward: RewardInterval
    over_log: RewardInterval | None = None
    over_best_arm: RewardInterval | None = None
    effective_rows: float | None = None
    arms: tuple[str, ...] | None = None  # what the best single arm is


@dataclass(frozen=True, slots=True)
class CandidateFindings:
    """What a log tells of a candidate."""

    verdict: str  # the answer in one sentence, with how certain it is
    better_than_log: bool | None  # None: the rows do not tell
    better_than_best_arm: bool | None
    confidence: float
    policies: tuple[JudgedPolicy, ...]
    rows: int  # that judged
    rows_of_training: int  # earlier ones, that trained the candidate
    until_event: int
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CandidateEvaluation:
    """An evaluation on its way: "running", "done", "refused" or "stopped"."""

    id: str
    policy: str
    state: str
    started: float
    seconds: float
    findings: CandidateFindings | None = None
    problem: Mapping[str, Any] | None = None  # why there are no findings

    def result(self) -> CandidateFindings | None:
        """The findings; None while it runs, and an error if it has ended without any."""
        if self.state == "running" or self.findings is not None:
            return self.findings
        parts = self.problem or {}
        raise error_of(int(parts.get("status", 500)), parts)


def candidate_evaluation(parts: Any) -> CandidateEvaluation:
    """An evaluation with its findings, if there are any yet."""
    found = record(CandidateEvaluation, parts)
    if found.findings is None:
        return found
    told = record(CandidateFindings, found.findings)
    policies = [record(JudgedPolicy, one) for one in told.policies]
    judged = tuple(
        replace(
            one, reward=_interval(one.reward), over_log=_interval(one.over_log),
            over_best_arm=_interval(one.over_best_arm),
        )
        for one in policies
    )  # fmt: skip
    return replace(found, findings=replace(told, policies=judged))


def _interval(parts: Any) -> Any:
    return None if parts is None else record(RewardInterval, parts)


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
