"""Decisions as OpenTelemetry's event `feature_flag.evaluation`: one line of the log for each."""

from typing import Any

from hierbandits.service.json_log import say
from hierbandits.service.wire import DecisionReply

EVENT = "feature_flag.evaluation"
PROVIDER = "hierbandits"
REASONS = {
    "policy": "SPLIT",
    "previous": "SPLIT",
    "control": "SPLIT",
    "sticky": "CACHED",
    "shadow": "STATIC",
}
"""Why a group of decisions has its arms, in the words of OpenFeature."""


def log_evaluation(policy: str, reply: DecisionReply) -> None:
    """Write the event of a decision; one that is told again is no new one."""
    if reply.duplicate:
        return
    task = reply.task if isinstance(reply.task, str | int) else "/".join(map(str, reply.task))
    parts: dict[str, Any] = {
        "event.name": EVENT,
        "feature_flag.key": policy,
        "feature_flag.result.variant": str(reply.arm),
        "feature_flag.result.reason": REASONS[reply.group].lower(),
        "feature_flag.context.id": str(task),
        "feature_flag.version": str(reply.version),
        "feature_flag.provider.name": PROVIDER,
        "decision.id": reply.id,
    }
    say(EVENT, **parts)
