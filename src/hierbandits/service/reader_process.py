"""Reads ledgers in a process of its own, so that nobody who decides waits for who looks.

python -m hierbandits.service.reader_process FOLDER

It answers one line of JSON for each that it is given, and ends with its input.
"""

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import msgspec

from hierbandits.dashboard.policy_history import PolicyHistory
from hierbandits.service.data_place import DataPlace
from hierbandits.service.decision_ids import DecisionIds
from hierbandits.service.decision_replay import MOST_SECONDS, CannotReplay, DecisionReplay
from hierbandits.service.decision_row import decision_row
from hierbandits.service.snapshots import history_of
from hierbandits.service.storage import Place, PolicyRecord
from hierbandits.service.stored_event import decoded, rewards_in
from hierbandits.service.wire import DecisionRequest

MOST_RECENT_EVENTS = 2_000
_SAVED_EVERY = 20_000  # events


class LedgerReader:
    """Answers questions about the policies of a folder that another process may serve."""

    def __init__(self, place: DataPlace, most_seconds: float = MOST_SECONDS) -> None:
        self._most_seconds = most_seconds  # of a replay
        self._storage, self._snapshots = place.storage(read_only=True), place.snapshots
        self._histories: dict[int, PolicyHistory] = {}
        self._saved: dict[int, int] = {}

    def close(self) -> None:
        """Read no more; histories are kept for the next reader."""
        for policy, history in self._histories.items():
            self._keep(policy, history, 1)
        self._storage.close()

    def answer(self, question: dict[str, Any]) -> Any:
        """What is asked: "history", "recent" or "account" of a policy, up to its event "last".

        A storage that only reads knows the last events of the time when it was opened.
        """
        (record,) = [one for one in self._storage.policies() if one.id == question["policy"]]
        if question["ask"] == "history":
            return self._history(record, question["last"])
        if question["ask"] == "recent":
            return self._recent(record, question["last"], question["limit"])
        return self._account(record, question)

    def _history(self, record: PolicyRecord, last: int) -> dict[str, Any]:
        history = self._histories.get(record.id)
        if history is None:
            history = self._snapshots.load_history(record.id, last)
            self._saved[record.id] = history.number
        self._histories.pop(record.id, None)  # half of a step must not be taken again
        self._histories[record.id] = history_of(record, self._storage, history)
        self._keep(record.id, history, _SAVED_EVERY)
        return history.to_dict()

    def _keep(self, policy: int, history: PolicyHistory, least: int) -> None:
        if history.number - self._saved[policy] >= least:
            self._snapshots.save_history(policy, history)
            self._saved[policy] = history.number

    def _recent(self, record: PolicyRecord, last: int, limit: int) -> dict[str, Any]:
        """The latest decisions, the newest first, with their rewards."""
        rows: list[dict[str, Any]] = []
        places: list[Place] = []
        number = last
        while number > 0 and len(rows) < limit and last - number < MOST_RECENT_EVENTS:
            data = self._storage.event(record.id, number)
            event = {} if data is None else decoded(data)
            for place in reversed(range(len(event.get("decisions", ())))):
                parts = event["decisions"][place]
                if parts is not None and len(rows) < limit:
                    rows.append(decision_row(parts, event["policy_version"]))
                    places.append((number, place))
            number -= 1
        by = self._storage.rewarded_by(record.id, places)
        found: dict[int, dict[str, tuple[float, bool]]] = {}
        for event_number in set(by.values()):
            data = self._storage.event(record.id, event_number)
            found[event_number] = {} if data is None else rewards_in(data)
        for row, where in zip(rows, places, strict=True):
            given = found.get(by.get(where, 0), {}).get(row["id"], (None, False))
            row["reward"], row["provisional"] = given
        return {"event": last, "decisions": rows}

    def account_of(self, name: str, id: str) -> dict[str, Any]:
        """A decision of a policy by its name, made once more."""
        found = [one for one in self._storage.policies() if one.name == name]
        if not found:
            raise LookupError(f"name must be of a policy, got {name!r:.80}")
        return self._account(found[0], {"id": id})

    def _account(self, record: PolicyRecord, question: dict[str, Any]) -> dict[str, Any]:
        id = question["id"]
        place = DecisionIds(record.salt).place_of(id)
        if place is None:
            place = self._storage.find_ids(record.id, [id]).get(id)
        if place is None:
            return {"problem": "There is no such decision."}
        asked = question.get("asked")
        if asked is not None:
            asked = msgspec.convert(asked, list[DecisionRequest])
        try:
            replay = DecisionReplay(record, self._storage, self._snapshots, self._most_seconds)
            told = replay.of(*place, asked)
        except CannotReplay as reason:
            return {"problem": str(reason)}
        return told if told["decision"]["id"] == id else {"problem": "There is no such decision."}


class Reader(Protocol):
    """Whoever knows the answers."""

    def answer(self, question: dict[str, Any]) -> Any:
        """What is asked."""

    def close(self) -> None:
        """Read no more."""


def answer_all(make: Callable[[DataPlace], Reader]) -> None:
    """Answer by a reader of the folder that the command line names, until the input ends."""
    os.nice(10)
    gc.set_threshold(200_000, 20, 100)  # histories hold many small lists, and no circles
    reader, out = make(DataPlace.of_process(Path(sys.argv[1]))), sys.stdout.buffer
    try:
        for line in sys.stdin.buffer:
            try:
                answer: dict[str, Any] = {"answer": reader.answer(msgspec.json.decode(line))}
            except Exception as error:
                answer = {"error": repr(error)}
            out.write(msgspec.json.encode(answer) + b"\n")
            out.flush()
    finally:
        reader.close()


if __name__ == "__main__":
    answer_all(LedgerReader)
