"""Events of an agent as the ledger keeps them, and back again."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from hierbandits.agent.journal import VERSION, Event

_NOT_STORED = ("version", "history", "number")
_NOTHING_LEARNED: Event = {
    "kind": "learn",
    "tasks": [],
    "arms": None,
    "features": [],
    "rewards": [],
}
ERASED = "erased"
"""The kind of an event of which nothing is left: it was of a task that is deleted."""
DELETED = "deleted"
"""The kind of what is left of the deletion of a task: that it was, when, and who asked for it."""
CHANGE, MEASURE = "change", "measure"
"""Kinds of events that are the service's own: somebody changed the policy, metrics have come."""


def plain_task(task: Any) -> Any:
    """A task as JSON has it in the ledger: a path of one name is that name."""
    if isinstance(task, list | tuple):
        return list(task) if len(task) != 1 else task[0]
    return task


def as_text(task: Any) -> str:
    """A task or an arm as JSON."""
    return msgspec.json.encode(plain_task(task)).decode()


def encoded(event: Event) -> bytes:
    """An event as it is stored; where it is in the ledger says the rest."""
    return msgspec.json.encode({k: v for k, v in event.items() if k not in _NOT_STORED})


def decoded(data: bytes) -> dict[str, Any]:
    """What was stored."""
    event: dict[str, Any] = msgspec.json.decode(data)
    return event


def agent_events(stored: Iterable[tuple[int, bytes]], history: str) -> Iterator[Event]:
    """The events that an agent replays: the agent's first is number 0, the ledger's 1.

    Of an erased event only the time is left.  It happens as one that brings no reward, since ages
    of decisions count all steps of the clock; so do events of the service's own.
    """
    for number, data in stored:
        event = decoded(data)
        if event["kind"] == "decide":
            event["decisions"] = [one for one in event["decisions"] if one is not None]
        elif event["kind"] in (ERASED, DELETED, CHANGE, MEASURE):
            event |= _NOTHING_LEARNED
        yield event | {"version": VERSION, "history": history, "number": number - 1}


def decisions_in(data: bytes) -> list[dict[str, Any] | None]:
    """The decisions of a stored event, with its version; None for one that is erased."""
    event = decoded(data)
    return [
        None if one is None else one | {"policy_version": event["policy_version"]}
        for one in event.get("decisions", ())
    ]


def decision_at(data: bytes, place: int) -> dict[str, Any] | None:
    """One decision of a stored event; None if it is erased, or was never made."""
    event = decoded(data)
    decisions = event.get("decisions", ())
    parts: dict[str, Any] | None = decisions[place] if place < len(decisions) else None
    return None if parts is None else parts | {"policy_version": event["policy_version"]}


def rewards_in(data: bytes) -> dict[str, tuple[float, bool]]:
    """The rewards that a stored event gave, by decision, and whether each is only a default."""
    event = decoded(data)
    kind = event["kind"]
    if kind == "reward":
        pairs = zip(event["ids"], event["values"], strict=True)
        return {id: (value, False) for id, value in pairs}
    if kind == "correct":
        return {event["id"]: (event["value"], False)}
    if "late" in event:
        return {event["late"]: (event["rewards"][0], False)}
    if kind == "expire" and event["default"] is not None:
        return dict.fromkeys(event["ids"], (event["default"], True))
    return {}


def metrics_in(data: bytes) -> dict[tuple[str, str], float]:
    """The metrics that a stored event gave, by decision and name."""
    event = decoded(data)
    if event["kind"] != MEASURE:
        return {}
    rows = zip(event["ids"], event["names"], event["values"], strict=True)
    return {(id, name): value for id, name, value in rows}


def reward_in(data: bytes, id: str) -> tuple[float, bool] | None:
    """The reward that a stored event gave to a decision, and whether it is only a default."""
    return rewards_in(data).get(id)
