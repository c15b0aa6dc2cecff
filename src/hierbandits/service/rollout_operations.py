"""Operations on the rollout of a policy: see it, change it, and see who changed what."""

from typing import Any, Literal

import msgspec

from hierbandits.service.api_problem import bad_request
from hierbandits.service.operation import Call, Operation
from hierbandits.service.ramp import RampStep
from hierbandits.service.rollout_state import FALSE_ALARMS, RolloutState
from hierbandits.service.storage import VersionRecord

MOST_ROWS = 1000


class RolloutRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Change a rollout."""

    action: Literal["start", "hold", "resume", "rollback"]
    steps: list[RampStep] = []
    """To start: the share of tasks that the policy decides for, step by step."""
    reason: str = ""
    """For the audit log."""


class RolloutReply(msgspec.Struct):
    """Where a rollout stands, and what its guardrails and its sample ratio say."""

    phase: str
    """"none", "ramping", "held", "done" or "rolled back"."""
    share: float
    """The share of tasks that the policy decides for."""
    previous: int | None
    """While a candidate is ramped: the version that decides for the others, which have the control
    arm if it is null."""
    steps: list[RampStep]
    step: int
    next_step: float | None
    """When the next step begins, in seconds since 1970."""
    guardrails: list[dict[str, Any]]
    """For each its bound, the count and mean of its metric, and the evidence that it is crossed."""
    sample_ratio: dict[str, Any] | None
    """For each arm how often it was seen and how often it should have been; None if unchecked."""


class AuditReply(msgspec.Struct):
    """Changes of a policy, the last one first."""

    total: int
    changes: list[dict[str, Any]]


def shown_rollout(state: RolloutState) -> RolloutReply:
    """A rollout for people."""
    ramp, ratio = state.ramp, state.ratio
    told = None
    if ratio is not None:
        told = {
            "count": ratio.count,
            "evidence": ratio.evidence,
            "needed": 1 / FALSE_ALARMS,
            "is_off": state.ratio_alarm,
            "arms": [
                {"arm": arm, "seen": seen, "expected": expected}
                for arm, seen, expected in zip(ratio.arms, ratio.seen, ratio.expected, strict=True)
            ],
        }
    return RolloutReply(
        ramp.phase,
        ramp.share,
        ramp.base,
        [RampStep(share, seconds) for share, seconds in ramp.steps],
        ramp.step,
        ramp.due,
        [watch.told() for watch in state.watches.values()],
        told,
    )


async def _show(call: Call) -> RolloutReply:
    return shown_rollout(call.service.book.turns(call.policy).live.rollout.state)


async def _act(call: Call) -> RolloutReply:
    turns, asked = call.service.book.turns(call.policy), call.body
    await turns.ask(
        "call",
        lambda: turns.live.rollout.act(asked.action, asked.steps, asked.reason, call.who),
    )
    return shown_rollout(turns.live.rollout.state)


async def _audit(call: Call) -> AuditReply:
    state = call.service.book.turns(call.policy).live.rollout.state
    return audit_page(call, state, call.service.book.versions(call.policy))


def audit_page(call: Call, state: RolloutState, versions: list[VersionRecord]) -> AuditReply:
    """The changes of a policy that a call asks for."""
    limit, offset = (_whole(call, name, usual) for name, usual in (("limit", 100), ("offset", 0)))
    changes = audit_of(state, versions)[::-1]
    return AuditReply(len(changes), changes[offset : offset + min(limit, MOST_ROWS)])


def audit_of(state: RolloutState, versions: list[VersionRecord]) -> list[dict[str, Any]]:
    """All changes of a policy; of versions that are older than the audit log nobody knows who."""
    told = {one.get("version") for one in state.audit}
    old = [
        {
            "event": one.after,
            "time": one.created,
            "what": "created" if one.number == 1 else "settings",
            "by": None,
            "version": one.number,
        }
        for one in versions
        if one.number not in told
    ]
    return sorted([*old, *state.audit], key=lambda one: one["event"])


def _whole(call: Call, name: str, usual: int) -> int:
    text = call.query.get(name, str(usual))
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise bad_request(f"{name} must be a whole number, got {text!r:.80}")
    return int(text)


_QUERY: dict[str, dict[str, Any]] = {
    "limit": {"type": "integer", "minimum": 0, "maximum": 10**12 - 1, "default": 100},
    "offset": {"type": "integer", "minimum": 0, "maximum": 10**12 - 1, "default": 0},
}
OPERATIONS = [
    Operation(
        "show_rollout", "GET", "/policies/{policy}/rollout", "read", _show,
        "Where the rollout of a policy stands.", None, RolloutReply,
    ),
    Operation(
        "change_rollout", "POST", "/policies/{policy}/rollout", "admin", _act,
        "Start a ramp, hold it, resume it, or roll the policy back.",
        RolloutRequest, RolloutReply,
    ),
    Operation(
        "audit", "GET", "/policies/{policy}/audit", "read", _audit,
        "Who changed what and when, the last change first.", None, AuditReply, query=_QUERY,
    ),
]  # fmt: skip
