"""Answers that cost much are given again for a while."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from time import monotonic
from typing import Any

QUICK = 0.5
"""Seconds: an answer that takes no longer is made anew each time that it is asked for."""
SHARE = 0.1
"""The share of the time that may go into one question, however many ask it, however often."""
MOST = 200
"""Questions whose answers are kept: the latest."""


class KeptAnswers:
    """Makes answers, in one event loop.

    A slow answer is given again for ten times as long as it took, and who asks while it is made
    waits for it with the others.  So it is never older than eleven times what it takes.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._answers: dict[Hashable, _Answer] = {}

    async def of(self, question: Hashable, make: Callable[[], Awaitable[Any]]) -> Any:
        """The answer to a question, made now unless there is one; an error is made anew."""
        known, now = self._answers.pop(question, None), self._clock()
        if known is None or not known.serves(now):
            known = _Answer(asyncio.ensure_future(make()), now, self._clock)
        self._answers[question] = known
        while len(self._answers) > MOST:
            del self._answers[next(iter(self._answers))]
        return await asyncio.shield(known.future)


class _Answer:
    def __init__(
        self, future: "asyncio.Future[Any]", begin: float, clock: Callable[[], float]
    ) -> None:
        self.future, self._begin, self._end = future, begin, begin
        self._clock = clock
        future.add_done_callback(self._done)

    def _done(self, future: "asyncio.Future[Any]") -> None:
        self._end = self._clock()
        if not future.cancelled():
            future.exception()  # whoever asked has heard of it

    def serves(self, now: float) -> bool:
        """Whether who asks now may have it."""
        if not self.future.done():
            return now - self._begin > QUICK
        if self.future.cancelled() or self.future.exception() is not None:
            return False
        took = self._end - self._begin
        return took > QUICK and now < self._end + took / SHARE
