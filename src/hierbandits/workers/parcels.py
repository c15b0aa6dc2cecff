"""Parcels: pieces of work that travel to a worker of a cluster together."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, TypeAlias

AHEAD = 2
"""Parcels that are given out at a time, for each processor of a cluster.

So a worker never waits, and neither the pieces nor their results pile up.
"""

SECONDS = 4.0
"""How long a worker has a parcel, about.

A cluster needs processor time for all that it is given, Spark up to a tenth of a second.
"""

Parcel: TypeAlias = list[tuple[int, Any]]
"""Pieces of work, each with its place."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of a parcel."""

    results: Parcel  # with their places
    error: Exception | None  # that a piece raised; those after it are not tried
    seconds: float


def attempted(function: Callable[[Any], Any], parcel: Parcel) -> Attempt:
    """Call a function on a worker: its own errors travel as values, as they are.

    So a cluster repeats the work that a lost worker had, and never work that was refused.
    """
    results: Parcel = []
    error, start = None, time.perf_counter()
    try:
        for place, item in parcel:
            results.append((place, function(item)))
    except Exception as raised:
        error = raised.with_traceback(None)
    return Attempt(results, error, time.perf_counter() - start)


class Parcels:
    """The pieces of work that are left, in parcels of about the same time.

    A piece travels alone until it is known how long pieces take.  No parcel is more than a fair
    share of what is left, so that workers end together.
    """

    def __init__(self, items: Sequence[Any]) -> None:
        self._left = deque(enumerate(items))
        self._finished = 0
        self._seconds = 0.0

    def next(self, workers: int) -> Parcel:
        """The next parcel for one of these workers; empty if nothing is left."""
        known = SECONDS * self._finished / self._seconds if self._seconds else 1
        share = ceil(len(self._left) / (AHEAD * workers))
        return [self._left.popleft() for _ in range(min(max(1, int(known)), share))]

    def outcome(self, attempt: Attempt) -> Iterator[tuple[int, Any]]:
        """The places and the results of a parcel; its error is raised after them."""
        self._finished += len(attempt.results)
        self._seconds += attempt.seconds
        yield from attempt.results
        if attempt.error is not None:
            raise attempt.error
