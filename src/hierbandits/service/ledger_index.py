"""What finds decisions and rewards in a ledger, made from its events."""

from hierbandits.service.decision_ids import DecisionIds
from hierbandits.service.storage import Batch, Place
from hierbandits.service.stored_event import DELETED, ERASED, decoded, metrics_in, rewards_in


class LedgerIndex:
    """Takes the events of one policy in their order."""

    def __init__(self, salt: bytes) -> None:
        self._ids = DecisionIds(salt)
        self.given: dict[str, Place] = {}
        """The places of decisions whose ids do not say them."""
        self.rewards: dict[Place, int] = {}
        """The event that rewarded each decision last."""
        self.measures: dict[tuple[Place, str], int] = {}
        """The event that brought each metric of a decision."""
        self.num_decisions = 0
        self.has_erased = False
        self._new_ids: list[str] = []
        self._new_measures: list[tuple[Place, str]] = []

    def add(self, number: int, data: bytes) -> None:
        """One more event."""
        event = decoded(data)
        self.has_erased = self.has_erased or event["kind"] in (ERASED, DELETED)
        for place, parts in enumerate(event.get("decisions", ())):
            if parts is None:
                self.has_erased = True
                continue
            self.num_decisions += 1
            id = parts["id"]
            if self._ids.place_of(id) is None and id not in self.given:
                self.given[id] = number, place
                self._new_ids.append(id)
        for id in rewards_in(data):
            where = self._place(id, number)
            if where is not None:
                self.rewards[where] = number
        for id, name in metrics_in(data):
            where = self._place(id, number)
            if where is not None and (where, name) not in self.measures:
                self.measures[where, name] = number
                self._new_measures.append((where, name))

    def _place(self, id: str, number: int) -> Place | None:
        """Where a decision is, if it is before an event."""
        place = self._ids.place_of(id)
        if place is None:
            return self.given.get(id)
        return place if place[0] < number else None

    def take(self, policy: int, events: list[tuple[int, int, bytes]]) -> Batch:
        """These events with what finds them, since the last time; rewards are then let go."""
        batch = Batch(
            events=events,
            ids=[(policy, id, *self.given[id]) for id in self._new_ids],
            rewards=[(policy, *place, number) for place, number in self.rewards.items()],
            measures=[
                (policy, *place, name, self.measures[place, name])
                for place, name in self._new_measures
            ],
        )
        self.rewards, self._new_ids, self._new_measures = {}, [], []
        return batch
