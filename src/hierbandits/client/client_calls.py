"""Every call that clients have: its arguments, the request that it makes, the reply that it reads.

Both clients send these requests; neither adds anything to them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import uuid4

from hierbandits.client.client_errors import ServiceError, error_of
from hierbandits.client.client_replies import (
    CandidateEvaluation,
    DecisionRecord,
    PolicyInfo,
    PolicyVersion,
    RewardReceipt,
    ServedDecision,
    TaskBelief,
    TaskPage,
    VersionInfo,
    candidate_evaluation,
    not_understood,
    record,
    records,
    task_belief,
    task_page,
)
from hierbandits.client.client_request import (
    ClientRequest,
    decision_path,
    json_body,
    json_part,
    path_part,
    policy_path,
)
from hierbandits.types import Name, TaskName

Offer: TypeAlias = Sequence[Name] | Mapping[str, Sequence[float]] | None
"""Names of arms, or features by name; None for all arms of the policy."""


def new_id() -> str:
    """An id for a decision that nobody else makes."""
    return uuid4().hex


@dataclass(frozen=True, slots=True)
class Wanted:
    """One decision of a round, with all that `decide` takes."""

    task: TaskName
    arms: Offer = None
    id: str = field(default_factory=new_id)
    best: bool = False
    context: Mapping[str, Any] | None = None
    played: Name | None = None

    def to_dict(self) -> dict[str, Any]:
        """As the service reads it."""
        arms = None if self.arms is None else _offer(self.arms)
        parts = {"arms": arms, "context": self.context, "played": self.played}
        given = {name: value for name, value in parts.items() if value is not None}
        return {"task": self.task, "id": self.id, **({"best": True} if self.best else {}), **given}


def decide(
    policy: str,
    task: TaskName,
    arms: Offer = None,
    *,
    id: str | None = None,
    best: bool = False,
    context: Mapping[str, Any] | None = None,
    played: Name | None = None,
) -> ClientRequest[ServedDecision]:
    """Choose an arm for a task.

    `arms` are those that may be played now.  The same `id` again has the same answer; the client
    makes one unless it is given.  `best` takes the arm of highest mean.  `context` says who comes,
    where the policy has an encoder; `played` is your own choice in shadow mode.
    """
    wanted = Wanted(task, arms, id or new_id(), best, context, played)
    body = json_body("decide", wanted.to_dict())
    return ClientRequest("POST", f"{policy_path(policy)}/decisions", _decision, body)


def decide_many(
    policy: str, wanted: Iterable[TaskName | Wanted]
) -> ClientRequest[list[ServedDecision | ServiceError]]:
    """Choose arms for many tasks at once: what they have in common is drawn once.

    A task may be a `Wanted`, which also has arms, an id and the like.  For each there is a
    decision, or the error that it alone has met.
    """
    rows = [one if isinstance(one, Wanted) else Wanted(one) for one in wanted]
    body = json_body("wanted", {"decisions": [one.to_dict() for one in rows]})
    return ClientRequest(
        "POST",
        f"{policy_path(policy)}/rounds",
        lambda reply: _each(reply, "decisions", _decision),
        body,
    )


def decision(policy: str, id: str) -> ClientRequest[DecisionRecord]:
    """What was decided, and its reward."""
    return ClientRequest(
        "GET", decision_path(policy, id), lambda reply: record(DecisionRecord, reply)
    )


def reward(
    policy: str, id: str, value: float, metrics: Mapping[str, float] | None = None
) -> ClientRequest[RewardReceipt]:
    """Give the reward of a decision: learned exactly once, however often it is sent.

    `metrics` are values of guardrails by name, if they are known now.
    """
    parts = {"metrics": dict(metrics)} if metrics else {}
    body = json_body("value", {"value": value, **parts})
    return ClientRequest("POST", f"{decision_path(policy, id)}/reward", _receipt, body)


def reward_many(
    policy: str, rewards: Iterable[tuple[str, float]]
) -> ClientRequest[list[RewardReceipt | ServiceError]]:
    """Give rewards of many decisions; for each what became of it, or the error of it alone."""
    rows = [{"id": id, "value": value} for id, value in rewards]
    body = json_body("rewards", {"rewards": rows})
    path = f"{policy_path(policy)}/rewards"
    return ClientRequest("POST", path, lambda reply: _each(reply, "rewards", _receipt), body)


def correct(policy: str, id: str, value: float) -> ClientRequest[RewardReceipt]:
    """Replace the reward of a decision."""
    return ClientRequest("PUT", f"{decision_path(policy, id)}/reward", _receipt, _value_body(value))


def put_policy(policy: str, settings: Mapping[str, Any]) -> ClientRequest[PolicyVersion]:
    """Create a policy, or make a new version of it; what it has learned stays.

    `settings` are those of the service's `PolicySettings`: {"arms": ["a", "b"]} is enough.
    """
    body = json_body("settings", dict(settings))
    return ClientRequest("PUT", policy_path(policy), _version, body)


def policies() -> ClientRequest[list[PolicyInfo]]:
    """All policies that the token may see."""
    return ClientRequest("GET", "/policies", lambda reply: records(PolicyInfo, reply))


def policy(policy: str) -> ClientRequest[PolicyInfo]:
    """A policy and its counts."""
    return ClientRequest("GET", policy_path(policy), _info)


def versions(policy: str) -> ClientRequest[list[VersionInfo]]:
    """All versions of a policy."""
    return ClientRequest(
        "GET", f"{policy_path(policy)}/versions", lambda reply: records(VersionInfo, reply)
    )


def delete_policy(policy: str) -> ClientRequest[None]:
    """Delete a policy and its log."""
    return ClientRequest("DELETE", policy_path(policy), lambda reply: None, repeatable=False)


def add_arm(
    policy: str,
    name: Name,
    *,
    hyper_mean: float | None = None,
    hyper_std: float | None = None,
    task_std: float | None = None,
) -> ClientRequest[PolicyInfo]:
    """Offer one more arm; what is not given is as of the other arms."""
    widths = {"hyper_mean": hyper_mean, "hyper_std": hyper_std, "task_std": task_std}
    given = {key: value for key, value in widths.items() if value is not None}
    body = json_body("add_arm", {"name": name, **given})
    return ClientRequest("POST", f"{policy_path(policy)}/arms", _info, body, repeatable=False)


def retire_arm(policy: str, name: Name) -> ClientRequest[PolicyInfo]:
    """Offer an arm no more; late rewards of it are still learned."""
    path = f"{policy_path(policy)}/arms/{json_part('name', name)}"
    return ClientRequest("DELETE", path, _info, repeatable=False)


def tasks(
    policy: str, search: str = "", *, limit: int = 100, offset: int = 0
) -> ClientRequest[TaskPage]:
    """The tasks whose names contain a text, page by page."""
    query = {"search": search, "limit": str(limit), "offset": str(offset)}
    return ClientRequest("GET", f"{policy_path(policy)}/tasks", task_page, query=query)


def task(policy: str, task: TaskName) -> ClientRequest[TaskBelief]:
    """What is known of a task, and from where."""
    return ClientRequest("GET", _of_task(policy, task), task_belief)


def delete_task(policy: str, task: TaskName) -> ClientRequest[int]:
    """Delete a task from the policy and its log; returns how many events held it."""
    return ClientRequest("DELETE", _of_task(policy, task), _events_changed, repeatable=False)


def export_policy(policy: str) -> ClientRequest[bytes]:
    """A policy with its versions and its log, as the bytes of one file."""
    return ClientRequest("GET", f"{policy_path(policy)}/export", bytes, reads_bytes=True)


def import_policy(policy: str, data: bytes) -> ClientRequest[PolicyVersion]:
    """Create a policy from what `export_policy` gave, or from the bytes of an agent's file."""
    path = f"{policy_path(policy)}/import"
    return ClientRequest("POST", path, _version, bytes(data), repeatable=False)


def export_log(policy: str, *, every: bool = False) -> ClientRequest[bytes]:
    """The rewarded decisions of a policy, or `every` one, as the bytes of a Parquet file."""
    path, query = f"{policy_path(policy)}/log", {"every": "true"} if every else {}
    return ClientRequest("GET", path, bytes, query=query, reads_bytes=True)


def start_evaluation(
    policy: str, candidate: Mapping[str, Any], *, confidence: float = 0.95
) -> ClientRequest[CandidateEvaluation]:
    """Begin to judge a candidate by the log of a policy; `evaluation` tells how far it is.

    `candidate` has the settings that change: rule, prior, rewards or floor.
    """
    body = json_body("candidate", {**candidate, "confidence": confidence})
    path = f"{policy_path(policy)}/evaluations"
    return ClientRequest("POST", path, candidate_evaluation, body, repeatable=False)


def evaluation(policy: str, id: str) -> ClientRequest[CandidateEvaluation]:
    """An evaluation that was started: its state, and what it has found."""
    path = f"{policy_path(policy)}/evaluations/{path_part('id', id)}"
    return ClientRequest("GET", path, candidate_evaluation)


def backup() -> ClientRequest[str]:
    """Copy the data folder where it is; returns the copy's folder on the service's machine."""
    return ClientRequest("POST", "/backup", lambda reply: str(reply["folder"]), repeatable=False)


def _of_task(policy: str, task: TaskName) -> str:
    return f"{policy_path(policy)}/tasks/{json_part('task', task)}"


def _offer(arms: Sequence[Name] | Mapping[str, Sequence[float]]) -> Any:
    return dict(arms) if isinstance(arms, Mapping) else list(arms)


def _value_body(value: float) -> bytes:
    return json_body("value", {"value": value})


def _decision(reply: Any) -> ServedDecision:
    return record(ServedDecision, reply)


def _receipt(reply: Any) -> RewardReceipt:
    return record(RewardReceipt, reply)


def _version(reply: Any) -> PolicyVersion:
    return record(PolicyVersion, reply)


def _info(reply: Any) -> PolicyInfo:
    return record(PolicyInfo, reply)


def _events_changed(reply: Any) -> int:
    if not isinstance(reply, Mapping) or not isinstance(reply.get("events_changed"), int):
        raise not_understood(reply)
    return int(reply["events_changed"])


def _each(reply: Any, name: str, read: Any) -> list[Any]:
    """The parts of a reply, some of which may be errors."""
    rows = reply.get(name) if isinstance(reply, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise not_understood(reply)
    return [error_of(row["status"], row) if "detail" in row else read(row) for row in rows]
