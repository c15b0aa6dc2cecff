"""Requests whose bodies do not come: they are cut off."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from hierbandits.service.api_problem import Problem


class SlowBodies:
    """Knows which requests wait for their bodies, and since when.

    `cut_off`, which the clockwork calls, cancels those that have waited for `patience` seconds.
    One look at all of them is cheaper than a timer for each.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._since: dict[asyncio.Task[object], float] = {}
        self._slow: set[asyncio.Task[object]] = set()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Around what waits for a body; a Problem if it takes too long."""
        task = asyncio.current_task()
        assert task is not None
        self._since[task] = monotonic()
        try:
            yield
        except asyncio.CancelledError:
            if task not in self._slow:
                raise
            self._slow.discard(task)
            task.uncancel()
            raise Problem(408, "timeout", "the body must come sooner") from None
        finally:
            self._since.pop(task, None)

    def cut_off(self) -> None:
        """Cancel what has waited too long."""
        before = monotonic() - self._patience
        for task, since in list(self._since.items()):
            if since < before:
                self._slow.add(task)
                task.cancel()
