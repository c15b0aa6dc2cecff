"""Ids of decisions: those that the service makes say where the decision is in the ledger."""

import re

from hierbandits.service.api_problem import Problem, bad_request
from hierbandits.service.storage import Place

LONGEST = 200
MARK = 4
"""The first bytes of a policy's salt, by which it knows the ids that it made."""
_OWN = re.compile(r"([0-9a-f]{1,16})\.([0-9a-f]{1,8})\.([0-9a-f]{8})")


ID = f"1 to {LONGEST} printable characters"


def is_id(id: str) -> bool:
    """Whether a decision may have this id."""
    return 0 < len(id) <= LONGEST and id.isprintable()


class DecisionIds:
    """Makes the ids of one policy, and reads them."""

    def __init__(self, salt: bytes) -> None:
        self._mark = salt[:MARK].hex()

    def make(self, number: int, place: int) -> str:
        """The id of a decision in an event."""
        return f"{number:x}.{place:x}.{self._mark}"

    def place_of(self, id: str) -> Place | None:
        """Where a decision is if the service made its id; None if a client did."""
        match = _OWN.fullmatch(id)
        if match is None or match[3] != self._mark:
            return None
        return int(match[1], 16), int(match[2], 16)

    def check_given(self, id: str) -> None:
        """Raise a Problem unless a client may give this id."""
        problem: Problem | None = None
        if not is_id(id):
            problem = bad_request(f"id must be {ID}, got {id!r:.80}")
        elif self.place_of(id) is not None:
            problem = bad_request(f"id must not be of the form that the service makes, got {id!r}")
        if problem is not None:
            raise problem
