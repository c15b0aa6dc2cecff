"""What of a policy in a file workers can share: its versions, or a refusal."""

from typing import Any

from hierbandits.agent.journal import Event
from hierbandits.service.policy_archive import PolicyArchive
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.shared_version import ArmChange, SharedVersion
from hierbandits.service.stored_event import CHANGE, DELETED, ERASED, MEASURE, decoded, rewards_in

_CARRIED = ("decide", "reward", "correct", "expire", "forget", "add_arm", "retire_arm")
_OF_THE_PAST = (CHANGE, ERASED, DELETED)
"""Kinds of events that tell who did what; they hold nothing that decides."""


def versions_to_share(archive: PolicyArchive) -> list[SharedVersion]:
    """The versions of a policy, each with the arms that it has had added and retired in the end.

    A ValueError names what workers cannot share.
    """
    newest = SharedVersion(archive.settings)
    newest.model()
    changes: list[tuple[int, ArmChange]] = []
    rollout, defaults = RolloutState(), dict[str, int]()
    for number, data in enumerate(archive.events, start=1):
        event = decoded(data)
        what = _not_shared(event)
        if what is not None:
            raise ValueError(f"archive must have no {what} where workers share it: event {number}")
        if event["kind"] in ("add_arm", "retire_arm"):
            changes.append((number, ArmChange.from_event(event)))
        for id, (_, is_default) in rewards_in(data).items():
            if is_default:
                defaults[id] = number
            else:
                defaults.pop(id, None)
        rollout.take([(number, data)])
    is_given_anew = None not in (newest.settings.reward_wait, newest.settings.default_reward)
    for id, number in () if is_given_anew else defaults.items():
        raise ValueError(
            "archive must have reward_wait and default_reward in its last version, since it has "
            f"default rewards: that of decision {id!r:.80}, event {number}"
        )
    _check_rollout(rollout)
    for _, change in changes:
        newest = newest.with_change(change)
    ends = [*(one.after for one in archive.versions[1:]), float("inf")]
    return [
        SharedVersion(
            PolicySettings.from_json(one.settings), [made for at, made in changes if at <= end]
        )
        for one, end in zip(archive.versions, ends, strict=True)
    ]


def _not_shared(event: Event) -> str | None:
    """What an event holds that workers have no place for; None if there is nothing."""
    kind: Any = event["kind"]
    if kind == MEASURE:
        return "metrics"
    if kind == "learn":
        is_new = len(event["tasks"]) > ("late" in event)  # that one is of a decision in the log
        return "rewards of decisions that were made elsewhere" if is_new else None
    if kind == "learn_past":
        return "past of tasks that is known by sums alone" if any(event["sums"]["n"]) else None
    return None if kind in _CARRIED + _OF_THE_PAST else f"events of kind {kind!r:.80}"


def _check_rollout(state: RolloutState) -> None:
    """Raise a ValueError if a rollout is under way."""
    ramp = state.ramp
    if ramp.phase in ("ramping", "held") or ramp.share < 1 or state.promotion is not None:
        raise ValueError(
            "rollout must have ended, with all tasks decided for by the policy, where workers "
            f"share it; it is {ramp.phase!r}, at a share of {ramp.share:g}"
        )
