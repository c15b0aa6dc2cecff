"""What the latest rounds were asked with, where the ledger does not keep it."""

from collections import OrderedDict
from collections.abc import Sequence

from hierbandits.agent import Agent
from hierbandits.service.wire import DecisionRequest

MOST_NUMBERS = 2_000_000
"""The features that are remembered of a policy's rounds, all arms together: 50 MB or so."""


class RecentRounds:
    """Remembers requests that brought features or a context, so that they can be replayed."""

    def __init__(self, agent: Agent, most_numbers: int = MOST_NUMBERS) -> None:
        self._is_armed = agent.prior.is_armed  # then the ledger has all that was asked
        self._most = most_numbers
        self._rounds: OrderedDict[int, tuple[list[DecisionRequest], int]] = OrderedDict()
        self._numbers = 0

    def add(self, number: int, requests: Sequence[DecisionRequest]) -> None:
        """The requests of an event; those that brought nothing of their own are left out."""
        size = 0 if self._is_armed else sum(map(_size, requests))
        if size == 0 or size > self._most:
            return
        self._rounds[number] = list(requests), size
        self._numbers += size
        while self._numbers > self._most:
            self._numbers -= self._rounds.popitem(last=False)[1][1]

    def of(self, number: int) -> list[DecisionRequest] | None:
        """The requests of an event; None if they are not remembered."""
        found = self._rounds.get(number)
        return None if found is None else found[0]


def _size(request: DecisionRequest) -> int:
    size = 0 if request.context is None else 1 + len(request.context)
    if isinstance(request.arms, dict):
        first = next(iter(request.arms.values()), [])
        size += len(request.arms) * (1 + len(first))
    elif size and request.arms is not None:
        size += len(request.arms)
    return size
