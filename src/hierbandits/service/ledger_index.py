"""What finds decisions and rewards in a ledger, made from its events."""

from hierbandits.service.decision_ids import DecisionIds
from hierbandits.service.storage import Place
from hierbandits.service.stored_event import ERASED, decoded, rewards_in


class LedgerIndex:
    """Takes the events of one policy in their order."""

    def __init__(self, salt: bytes) -> None:
        self._ids = DecisionIds(salt)
        self._places: dict[str, Place] = {}
        self.given: dict[str, Place] = {}
        """The places of decisions whose ids do not say them."""
        self.rewards: dict[Place, int] = {}
        """The event that rewarded each decision last."""
        self.num_decisions = 0
        self.has_erased = False

    def add(self, number: int, data: bytes) -> None:
        """One more event."""
        event = decoded(data)
        self.has_erased = self.has_erased or event["kind"] == ERASED
        for place, parts in enumerate(event.get("decisions", ())):
            if parts is None:
                self.has_erased = True
                continue
            self.num_decisions += 1
            id = parts["id"]
            self._places[id] = number, place
            if self._ids.place_of(id) is None:
                self.given[id] = number, place
        for id in rewards_in(data):
            if id in self._places:
                self.rewards[self._places[id]] = number
