"""When a request is sent again, and how long that waits."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hierbandits.client.client_request import ClientRequest
from hierbandits.client.outcome import Outcome

FIRST = 0.1
"""Seconds before the first repetition; each later one waits twice as long."""
LONGEST = 30.0
"""The most seconds that a client waits, also where the service asks for more."""

_NOT_DONE = (429, 503)  # the service says that it has done nothing
_UNCLEAR = (408, 502, 504)  # of something between, which knows no more than we do


@dataclass(frozen=True, slots=True)
class Retries:
    """Repeats what may work later, `number` times at most, with growing waits and jitter."""

    number: int
    luck: Callable[[], float] = random.random  # in [0, 1)

    def __post_init__(self) -> None:
        if isinstance(self.number, bool) or not isinstance(self.number, int) or self.number < 0:
            raise ValueError(f"retries must be a whole number, 0 or more, got {self.number!r:.80}")

    def wait(self, request: ClientRequest[Any], attempt: int, outcome: Outcome) -> float | None:
        """Seconds to wait before the request is sent again; None if it is not."""
        if attempt >= self.number or not _may_work_later(request, outcome):
            return None
        backoff = min(FIRST * 2.0**attempt, LONGEST) * (0.5 + 0.5 * self.luck())
        if outcome.retry_after is None:
            return backoff
        # Jitter on top of what was asked for, so that all clients do not come at once.
        return None if outcome.retry_after > LONGEST else outcome.retry_after + backoff


def _may_work_later(request: ClientRequest[Any], outcome: Outcome) -> bool:
    if outcome.status is None:
        return request.repeatable or not outcome.was_sent
    return outcome.status in _NOT_DONE or (request.repeatable and outcome.status in _UNCLEAR)
