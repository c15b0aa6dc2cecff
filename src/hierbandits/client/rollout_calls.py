"""The calls that clients have for rollouts: metrics, ramps, candidates and the audit log."""

from collections.abc import Iterable, Mapping
from typing import Any

from hierbandits.client.client_replies import (
    AuditPage,
    MetricsReceipt,
    PromotionInfo,
    RolloutInfo,
    record,
)
from hierbandits.client.client_request import ClientRequest, decision_path, json_body, policy_path


def measure(policy: str, id: str, values: Mapping[str, float]) -> ClientRequest[MetricsReceipt]:
    """Give metrics of a decision, each counted exactly once: of guardrails, or "exposure"."""
    path, body = (
        f"{decision_path(policy, id)}/metrics",
        json_body("values", {"values": dict(values)}),
    )
    return ClientRequest("POST", path, lambda reply: record(MetricsReceipt, reply), body)


def rollout(policy: str) -> ClientRequest[RolloutInfo]:
    """Where the rollout of a policy stands, and what watches it."""
    return ClientRequest("GET", f"{policy_path(policy)}/rollout", _rollout)


def start_rollout(
    policy: str, steps: Iterable[tuple[float, float | None]], reason: str = ""
) -> ClientRequest[RolloutInfo]:
    """Let the policy decide for a growing share of tasks: (share, seconds) of each step."""
    rows = [{"share": share, "seconds": seconds} for share, seconds in steps]
    return _change(policy, {"action": "start", "steps": rows, "reason": reason})


def change_rollout(policy: str, action: str, reason: str = "") -> ClientRequest[RolloutInfo]:
    """Do "hold", "resume" or "rollback" to the rollout of a policy."""
    return _change(policy, {"action": action, "reason": reason})


def _change(policy: str, parts: dict[str, Any]) -> ClientRequest[RolloutInfo]:
    body = json_body("rollout", parts)
    return ClientRequest("POST", f"{policy_path(policy)}/rollout", _rollout, body, repeatable=False)


def promotion(policy: str) -> ClientRequest[PromotionInfo]:
    """Where a candidate stands on its way into a policy."""
    return ClientRequest("GET", f"{policy_path(policy)}/promotion", _promotion)


def promote(
    policy: str,
    step: str,
    *,
    candidate: Mapping[str, Any] | None = None,
    steps: Iterable[tuple[float, float | None]] = (),
) -> ClientRequest[PromotionInfo]:
    """The next step of a candidate: "evaluate", "shadow", "ramp" by steps, or "drop" it."""
    rows = [{"share": share, "seconds": seconds} for share, seconds in steps]
    given = {} if candidate is None else {"candidate": dict(candidate)}
    body = json_body("promote", {"step": step, "steps": rows, **given})
    path = f"{policy_path(policy)}/promotion"
    return ClientRequest("POST", path, _promotion, body, repeatable=False)


def audit(policy: str, *, limit: int = 100, offset: int = 0) -> ClientRequest[AuditPage]:
    """Who changed what and when, the last change first."""
    query = {"limit": str(limit), "offset": str(offset)}
    path = f"{policy_path(policy)}/audit"
    return ClientRequest("GET", path, lambda reply: record(AuditPage, reply), query=query)


def _promotion(reply: Any) -> PromotionInfo:
    return record(PromotionInfo, reply)


def _rollout(reply: Any) -> RolloutInfo:
    return record(RolloutInfo, reply)
