"""What is left of a ledger when a task is deleted: nothing that was of this task."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from hierbandits.service.storage import Place
from hierbandits.service.stored_event import (
    DELETED,
    ERASED,
    MEASURE,
    as_text,
    decoded,
    encoded,
    plain_task,
)
from hierbandits.types import TaskName

_FORGET = b'{"kind":"forget"'


class TaskErasure:
    """Rewrites events up to number `until` without one task and its decisions.

    A decision that is erased leaves an empty place, so that others stay where they are.  An event
    of which nothing is left becomes a tombstone: that it was there, and when; that of the deletion
    itself says who asked for it, too.  In a shadow it also says which event of its policy it was.
    """

    def __init__(self, task: TaskName, until: int) -> None:
        self._task, self.task, self._until = plain_task(task), as_text(task), until
        self._number = 0
        self.ids: list[str] = []  # of its decisions
        self.places: list[Place] = []
        self._erased: set[str] = set()

    def __call__(self, data: bytes) -> bytes:
        """An event without the task; events come in their order."""
        self._number += 1
        if self._number > self._until:
            return data  # the task may have come again
        event = decoded(data)
        change = _CHANGES.get(event["kind"])
        if change is None:
            return data
        left = change(self, event)
        if left is None:
            return encoded(_tombstone(event))
        return data if left is event else encoded(left)

    def _left_of_decide(self, event: dict[str, Any]) -> dict[str, Any] | None:
        kept = list(event["decisions"])
        for place, parts in enumerate(kept):
            if parts is not None and parts["task"] == self._task:
                self.ids.append(parts["id"])
                self._erased.add(parts["id"])
                self.places.append((self._number, place))
                kept[place] = None
        if all(parts is None for parts in kept):
            return None
        return event if kept == event["decisions"] else event | {"decisions": kept}

    def _left_of_by_id(self, event: dict[str, Any]) -> dict[str, Any] | None:
        """An event of several decisions, by their ids."""
        kept = [place for place, id in enumerate(event["ids"]) if id not in self._erased]
        columns = ("ids", "values", "names", "groups", "shown")
        return _some(event, kept, len(event["ids"]), columns)

    def _left_of_correct(self, event: dict[str, Any]) -> dict[str, Any] | None:
        return None if event["id"] in self._erased else event

    def _left_of_learn(self, event: dict[str, Any]) -> dict[str, Any] | None:
        if event.get("late") in self._erased:
            return None
        kept = [place for place, task in enumerate(event["tasks"]) if task != self._task]
        return _some(event, kept, len(event["tasks"]), ("tasks", "arms", "features", "rewards"))

    def _left_of_learn_past(self, event: dict[str, Any]) -> dict[str, Any] | None:
        kept = [place for place, task in enumerate(event["tasks"]) if task != self._task]
        left = _some(event, kept, len(event["tasks"]), ("tasks",))
        if left is None or left is event:
            return left
        sums = {name: [rows[place] for place in kept] for name, rows in event["sums"].items()}
        return left | {"sums": sums}

    def _left_of_forget(self, event: dict[str, Any]) -> dict[str, Any] | None:
        return None if event["task"] == self._task else event


def _tombstone(event: dict[str, Any]) -> dict[str, Any]:
    """What is left of an event of which nothing is left."""
    kept: dict[str, Any] = {name: event[name] for name in ("time", "source") if name in event}
    if event["kind"] == "forget":
        return {"kind": DELETED, **kept, "by": event.get("by")}
    return {"kind": ERASED, **kept}


def last_forgotten(task: TaskName, events: Iterable[tuple[int, bytes]]) -> int | None:
    """The number of the last event that forgot a task; None if there is none."""
    plain, last = plain_task(task), None
    for number, data in events:
        if data.startswith(_FORGET) and decoded(data)["task"] == plain:
            last = number
    return last


def _some(
    event: dict[str, Any], kept: list[int], number: int, names: Collection[str]
) -> dict[str, Any] | None:
    """An event with some rows of these columns; None if it has none left."""
    if len(kept) == number:
        return event
    if not kept and event["kind"] != "expire":  # which may drop what was settled, too
        return None
    columns = {name: event[name] for name in names if isinstance(event.get(name), list)}
    return event | {name: [rows[place] for place in kept] for name, rows in columns.items()}


_CHANGES: dict[str, Callable[[TaskErasure, dict[str, Any]], dict[str, Any] | None]] = {
    "decide": TaskErasure._left_of_decide,
    "reward": TaskErasure._left_of_by_id,
    MEASURE: TaskErasure._left_of_by_id,
    "expire": TaskErasure._left_of_by_id,
    "correct": TaskErasure._left_of_correct,
    "learn": TaskErasure._left_of_learn,
    "learn_past": TaskErasure._left_of_learn_past,
    "forget": TaskErasure._left_of_forget,
}
