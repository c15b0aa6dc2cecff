"""The bodies of requests and replies, which are strict about what is a number."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hierbandits.types import Name

MOST_ARMS = 10_000
"""The arms that one request may bring."""

Task = Name | Annotated[list[Name], Meta(max_length=100)]
"""A name, or a path of names where the policy has more than two levels."""


class DecisionRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Choose an arm for a task."""

    task: Task
    arms: (
        Annotated[list[Name], Meta(max_length=MOST_ARMS)]
        | Annotated[dict[str, list[float]], Meta(max_length=MOST_ARMS)]
        | None
    ) = None
    """The arms that may be played: names of the policy's own, or features by name."""
    id: str | None = None
    """Your id of this decision: the same request again has the same answer."""
    best: bool = False
    """Take the arm of highest posterior mean: no exploring."""
    context: dict[str, Any] | None = None
    """Who comes, {column: value}, where the policy has an encoder."""
    played: Name | None = None
    """In shadow mode: the arm that you play."""


class RoundRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Choose arms for many tasks at once; they share one draw of what they have in common."""

    decisions: list[DecisionRequest]


class DecisionReply(msgspec.Struct, omit_defaults=True):
    """What was decided."""

    id: str
    task: Task
    arm: Name
    propensity: float | None
    version: int
    group: str = "policy"
    """"policy", "previous" (the version before, while a candidate is ramped), "control", "sticky"
    or "shadow"."""
    gap: float | None = None
    """The price of exploring: how far the arm's expected reward is below the highest."""
    would: Name | None = None
    """In shadow mode: what the policy would have played."""
    duplicate: bool = False


class RewardRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The reward of a decision."""

    value: float
    metrics: dict[str, float] = {}
    """Values of guardrails by name, if they are known now."""


class NamedReward(msgspec.Struct, forbid_unknown_fields=True):
    """The reward of the decision of this id."""

    id: str
    value: float
    metrics: dict[str, float] = {}


class MetricsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Metrics of a decision, by name: of guardrails, or "exposure"."""

    values: Annotated[dict[str, float], Meta(min_length=1)]


class NamedMetrics(msgspec.Struct, forbid_unknown_fields=True):
    """Metrics of the decision of this id."""

    id: str
    values: Annotated[dict[str, float], Meta(min_length=1)]


class MeasuresRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Metrics of many decisions."""

    metrics: list[NamedMetrics]


class MetricsReply(msgspec.Struct):
    """What became of each metric: "stored" or "duplicate"."""

    id: str
    values: dict[str, str]


class MeasuresReply(msgspec.Struct):
    """For each decision what became of its metrics, or what is wrong."""

    metrics: list[MetricsReply | Any]


class RewardsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Rewards of many decisions."""

    rewards: list[NamedReward]


class RewardReply(msgspec.Struct):
    """What became of a reward: "learned", "duplicate" or "corrected"."""

    id: str
    status: str


class ArmRequest(msgspec.Struct, forbid_unknown_fields=True):
    """One more arm; what is not given is as of the other arms."""

    name: Name
    hyper_mean: float | None = None
    hyper_std: float | None = None
    task_std: float | None = None


class ProblemPart(msgspec.Struct):
    """What is wrong with one part of a request; the other parts are served."""

    status: int
    code: str
    title: str
    detail: str


class RoundReply(msgspec.Struct):
    """For each task what was decided, or what is wrong."""

    decisions: list[DecisionReply | Any]


class RewardsReply(msgspec.Struct):
    """For each reward what became of it, or what is wrong."""

    rewards: list[RewardReply | Any]


class PolicyReply(msgspec.Struct):
    """A policy: what it is told to be, and what it has done."""

    name: str
    version: int
    settings: dict[str, Any]
    created: float
    tasks: int
    events: int
    rewards: int
    pending: int
    arms: list[Name] | None = None


class VersionReply(msgspec.Struct):
    """The version that a change has made."""

    name: str
    version: int
    created: bool


class FlagRequest(msgspec.Struct):
    """OFREP: who asks for a flag."""

    context: Any = None
    """An object; its `targetingKey` is the task."""


class FlagReply(msgspec.Struct):
    """OFREP: the arm as the value of a flag."""

    key: str
    value: Name
    variant: str
    reason: str
    """"SPLIT", "CACHED" if the task keeps its arm, "STATIC" in shadow mode."""
    metadata: dict[str, Any]
    """The `id` to reward, the `propensity`, the `version` of the policy and the `group`."""


class FlagsReply(msgspec.Struct):
    """OFREP: for each policy its flag, or what is wrong."""

    flags: list[FlagReply | Any]
