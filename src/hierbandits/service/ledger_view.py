"""What the ledger says of decisions, together with what is not stored yet."""

from collections.abc import Sequence
from typing import Any

from hierbandits.service.decision_ids import DecisionIds
from hierbandits.service.storage import Batch, Place, PolicyRecord, Storage
from hierbandits.service.stored_event import (
    as_text,
    decision_at,
    decisions_in,
    metrics_in,
    reward_in,
    rewards_in,
)
from hierbandits.types import TaskName


class LedgerView:
    """Finds the decisions of one policy by their ids, and their rewards."""

    def __init__(self, record: PolicyRecord, storage: Storage) -> None:
        self._policy, self._storage = record.id, storage
        self.ids = DecisionIds(record.salt)
        self._fresh: dict[int, bytes] = {}  # events that may not be stored yet
        self._fresh_ids: dict[str, Place] = {}
        self._fresh_metrics: dict[tuple[Place, str], tuple[int, float]] = {}  # event, value
        self._hidden: dict[str, int] = {}  # tasks that are being erased, up to which event

    def add(self, number: int, data: bytes) -> None:
        """An event has happened."""
        self._fresh[number] = data

    def hide(self, task: TaskName, until: int) -> None:
        """A task is erased up to this event, soon."""
        self._hidden[as_text(task)] = until

    def hide_no_more(self, task: TaskName) -> None:
        """A task is erased."""
        self._hidden.pop(as_text(task), None)

    def add_id(self, id: str, place: Place) -> None:
        """A client has given a decision this id."""
        self._fresh_ids[id] = place

    def add_foreign(self, number: int, data: bytes) -> Batch:
        """An event was another policy's first: what finds its decisions, and its rewards."""
        batch = Batch()
        for place, parts in enumerate(decisions_in(data)):
            if parts is not None:
                self.add_id(parts["id"], (number, place))
                batch.ids.append((self._policy, parts["id"], number, place))
        ids = list(rewards_in(data))
        places = self.places(ids) if ids else {}
        batch.rewards += [(self._policy, *place, number) for place in places.values()]
        return batch

    def add_metric(self, place: Place, name: str, number: int, value: float) -> None:
        """An event has brought a metric of a decision."""
        self._fresh_metrics[place, name] = number, value

    def forget_fresh(self) -> None:
        """What is not stored has not happened."""
        self._fresh, self._fresh_ids, self._fresh_metrics = {}, {}, {}

    def stored(self, number: int) -> None:
        """All events up to this one are stored."""
        for old in [old for old in self._fresh if old <= number]:
            del self._fresh[old]
        if self._fresh_ids:
            kept = {id: place for id, place in self._fresh_ids.items() if place[0] > number}
            self._fresh_ids = kept
        if self._fresh_metrics:
            metrics = self._fresh_metrics.items()
            self._fresh_metrics = {key: one for key, one in metrics if one[0] > number}

    def events(self, after: int, until: int) -> list[tuple[int, bytes]]:
        """The events after one, up to another."""
        known = dict(self._storage.events(self._policy, after)) | self._fresh
        return [(number, known[number]) for number in range(after + 1, until + 1)]

    def event(self, number: int) -> bytes | None:
        """One event; None if there is none."""
        return self._fresh.get(number) or self._storage.event(self._policy, number)

    def places(self, ids: Sequence[str]) -> dict[str, Place]:
        """Where decisions are; those that were never made may be left out."""
        places, unknown = {}, []
        for id in ids:
            place = self.ids.place_of(id) or self._fresh_ids.get(id)
            if place is None:
                unknown.append(id)
            else:
                places[id] = place
        if unknown:
            places |= self._storage.find_ids(self._policy, unknown)
        return places

    def decision_at(self, place: Place) -> dict[str, Any] | None:
        """What is stored of the decision at a place; None if it is erased, or was never made."""
        data = self.event(place[0])
        parts = None if data is None else decision_at(data, place[1])
        return None if parts is None or self._is_hidden(place, parts) else parts

    def made(self, ids: Sequence[str]) -> dict[str, dict[str, Any] | None]:
        """What is stored of decisions by their ids, None if it is erased; others are left out."""
        return {id: self.decision_at(place) for id, place in self.places(ids).items()}

    def _is_hidden(self, place: Place, parts: dict[str, Any]) -> bool:
        """Whether a decision is of a task that is being erased."""
        return bool(self._hidden) and place[0] <= self._hidden.get(as_text(parts["task"]), 0)

    def decisions(self, ids: Sequence[str]) -> dict[str, tuple[Place, dict[str, Any]]]:
        """Where decisions are, and what is stored of them with its version; others are left out."""
        found, events = {}, dict[int, list[Any]]()
        for id, place in self.places(ids).items():
            if place[0] not in events:
                data = self.event(place[0])
                events[place[0]] = [] if data is None else decisions_in(data)
            all_of_it = events[place[0]]
            parts = all_of_it[place[1]] if place[1] < len(all_of_it) else None
            if parts is not None and parts["id"] == id and not self._is_hidden(place, parts):
                found[id] = place, parts
        return found

    def metrics(self, wanted: Sequence[tuple[Place, str, str]]) -> dict[tuple[str, str], float]:
        """The values of metrics that have come, by decision and name: of place, id and name."""
        found, stored = {}, list[tuple[Place, str, str]]()
        for place, id, name in wanted:
            if (place, name) in self._fresh_metrics:
                found[id, name] = self._fresh_metrics[place, name][1]
            else:
                stored.append((place, id, name))
        by = self._storage.measured_by(self._policy, [(place, name) for place, _, name in stored])
        events = dict[int, dict[tuple[str, str], float]]()
        for place, id, name in stored:
            number = by.get((place, name))
            if number is not None:
                if number not in events:
                    data = self.event(number)
                    events[number] = {} if data is None else metrics_in(data)
                found[id, name] = events[number][id, name]
        return found

    def decision(self, id: str) -> dict[str, Any] | None:
        """All that is stored of a decision, with its reward; None if there is none."""
        place = self.places([id]).get(id)
        parts = None if place is None else self.decision_at(place)
        if place is None or parts is None or parts["id"] != id:
            return None
        reward, provisional = self._reward_of(id, place) or (None, False)
        return parts | {"reward": reward, "provisional": provisional}

    def _reward_of(self, id: str, place: Place) -> tuple[float, bool] | None:
        """The last reward of a decision, and whether it is a default."""
        for number in sorted(self._fresh, reverse=True):
            found = reward_in(self._fresh[number], id)
            if found is not None:
                return found
        by = self._storage.rewarded_by(self._policy, [place]).get(place)
        data = None if by is None else self._storage.event(self._policy, by)
        return None if data is None else reward_in(data, id)
