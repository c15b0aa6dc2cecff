"""What may come next in a rollout, what is watched in it, and what raises an alarm."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from hierbandits.service.api_problem import Problem, bad_request
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.ramp import Ramp, RampStep, check_steps
from hierbandits.service.rollout_state import RolloutState
from hierbandits.types import Name

CLOCK = "the schedule"
RATIO = "the sample-ratio check"
LONGEST_REASON = 1000
_MAY = {
    "start": ("none", "done", "rolled back"),
    "hold": ("ramping",),
    "resume": ("held",),
}
_NEXT = {
    "none": "start it, or roll the policy back",
    "ramping": "hold it, or roll the policy back",
    "held": "resume it, or roll the policy back",
    "done": "start another, or roll the policy back",
    "rolled back": "start another",
}


def check_act(
    ramp: Ramp,
    settings: PolicySettings,
    action: str,
    steps: Sequence[RampStep],
    reason: str,
    *,
    is_from_version: bool = False,
) -> None:
    """Raise a Problem unless somebody may do this to a rollout."""
    if len(reason) > LONGEST_REASON:
        raise bad_request(f"reason must have at most {LONGEST_REASON} characters")
    if (action == "start") != bool(steps):
        raise bad_request("steps must be given to start a rollout, and only then")
    check_next(ramp, settings, action, steps, is_from_version=is_from_version)


def check_next(
    ramp: Ramp,
    settings: PolicySettings,
    action: str,
    steps: Sequence[RampStep],
    *,
    is_from_version: bool = False,
) -> None:
    """Raise a Problem if it is not the time; a ramp from a version needs no control arm."""
    phase = ramp.phase
    if not (ramp.acts if action == "rollback" else phase in _MAY[action]):
        raise Problem(
            409, "wrong_phase", f"the rollout is {phase!r}, {_NEXT[phase]}; got {action!r}"
        )
    if action in ("start", "rollback"):
        _check_control(settings, action, is_from_version=is_from_version)
    if action == "start":
        try:
            check_steps(steps)
        except ValueError as error:
            raise bad_request(str(error)) from error


def _check_control(settings: PolicySettings, action: str, *, is_from_version: bool) -> None:
    if settings.control_arm is None and not is_from_version:
        raise Problem(409, "no_control_arm", f"control_arm must be a setting to {action}")
    if settings.mode != "live":
        raise Problem(409, "not_live", f"mode must be 'live' to {action}, got {settings.mode!r}")


def check_settings(ramp: Ramp, settings: PolicySettings) -> None:
    """Refuse settings that do not fit a rollout that is under way."""
    if ramp.share < 1 and (settings.control_arm is None or settings.mode != "live"):
        raise Problem(
            409, "rollout",
            f"control_arm and mode 'live' must stay while the rollout is {ramp.phase!r}",
        )  # fmt: skip


def watched(
    settings: PolicySettings, arms: Sequence[Name] | None, since: int = 0
) -> dict[str, Any]:
    """What is watched from now on, from the beginning: decisions by versions `since` one."""
    more = {"since": since} if since else {}
    return more | {
        "guardrails": msgspec.to_builtins(settings.guardrails),
        "counts": settings.ratio_check,
        "arms": [] if arms is None else list(arms),
    }


def is_watched_anew(before: PolicySettings | None, settings: PolicySettings) -> bool:
    """Whether settings, which follow others or are the first, watch something else."""
    was = ([], "none") if before is None else (before.guardrails, before.ratio_check)
    return (settings.guardrails, settings.ratio_check) != was


def alarms(state: RolloutState) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """What a rollout must do now by itself, one after the other: what, by whom, and why."""
    watch = state.crossed
    if watch is not None:
        told = watch.told()
        parts = {name: told[name] for name in ("count", "mean", "evidence")}
        yield "rollback", f"the guardrail {watch.guardrail.name}", parts
    if state.is_ratio_off and state.ratio is not None:
        ratio = state.ratio
        yield "sample ratio", RATIO, {"count": ratio.count, "evidence": ratio.evidence}
