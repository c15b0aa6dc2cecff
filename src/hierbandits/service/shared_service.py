"""A worker of a store that it shares with any number of others."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hierbandits.service import (
    shared_archive_operations,
    shared_evaluation_operations,
    shared_operations,
    shared_rollout_operations,
)
from hierbandits.service.data_place import DataPlace
from hierbandits.service.json_log import say
from hierbandits.service.kept_answers import KeptAnswers
from hierbandits.service.ledger_desk import LedgerDesk
from hierbandits.service.operation import Handler
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.service import MOST_BYTES, PATIENCE
from hierbandits.service.service_metrics import ServiceMetrics
from hierbandits.service.shared_book import SharedBook
from hierbandits.service.shared_evaluations import SharedEvaluations
from hierbandits.service.shared_links import SharedLinks
from hierbandits.service.shared_rollout import rollouts_now
from hierbandits.service.shared_turns import SharedTurns
from hierbandits.service.slow_bodies import SlowBodies
from hierbandits.service.storage import StorageFailed
from hierbandits.service.worker_mark import WorkerMark

_TICK = 1.0  # seconds between looks at what others have done


class SharedService:
    """What requests use, as in `Service`; nothing is kept here that is not in the store."""

    alone = None
    """No process has the store alone."""

    def __init__(
        self,
        folder: Path,
        store: str,
        *,
        needs_tokens: bool | None = True,  # None: as soon as there are any
        logs_requests: bool = False,
        logs_evaluations: bool = False,
        most_bytes: int = MOST_BYTES,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.place = folder, DataPlace(folder, store)
        self.needs_tokens, self._waits_for_tokens = bool(needs_tokens), needs_tokens is None
        self.logs_requests, self.logs_evaluations = logs_requests, logs_evaluations
        self.most_bytes, self.clock = most_bytes, clock
        self.slow_bodies = SlowBodies(patience)
        self.metrics = ServiceMetrics()
        self.links = SharedLinks(store)
        try:
            self.mark = WorkerMark(store)
        except BaseException:
            self.links.close()
            raise
        self.tokens = self.place.tokens()
        self.book = SharedBook(self.links, clock, self._gave_up)
        self.evaluations = SharedEvaluations(self.links, self.place, clock)
        self.kept = KeptAnswers()
        self.desk = LedgerDesk(self.place, module="hierbandits.service.shared_reader_process")
        self._clockwork: asyncio.Task[None] | None = None

    @property
    def own_handlers(self) -> Mapping[str, Handler]:
        """Operations that it serves in other ways than a `Service`, by name."""
        return {
            **shared_operations.handlers(self),
            **shared_archive_operations.handlers(self),
            **shared_evaluation_operations.handlers(self),
            **shared_rollout_operations.handlers(self),
        }

    async def find_turns(self, name: str) -> SharedTurns:
        """The policy of a name; one that is new here is looked for in the store."""
        known = self.book.known(name)
        return known if known is not None else await asyncio.to_thread(self.book.turns, name)

    async def policy_marks(self) -> dict[str, list[Any]]:
        """All policies by name, each with what changes when it decides otherwise."""
        return await asyncio.to_thread(self.book.marks)

    async def not_ready(self) -> str | None:
        """Why it cannot serve; None if the store can be reached and takes what happens."""
        try:
            is_open = await asyncio.to_thread(self.links.is_open)
        except StorageFailed as error:  # its words are for those who run the service
            say("not ready", logging.WARNING, error=str(error))
            return "the store cannot be used: the log says why"
        return None if is_open else "the store can only be read now"

    async def metrics_text(self) -> bytes:
        """All metrics in Prometheus's text format; if the store is away, without its rollouts."""
        found: list[tuple[str, RolloutState]] = []
        with suppress(StorageFailed):
            found = await asyncio.to_thread(rollouts_now, self.links.read)
        self.metrics.forget_policies()
        for name, state in found:
            self.metrics.show_rollout(name, state)
        return self.metrics.text()

    async def start(self) -> None:
        """Begin to serve."""
        self.book.start()
        self._clockwork = asyncio.ensure_future(self._run_clockwork())
        say("started as one of many", store=str(self.place))

    async def stop(self) -> None:
        """Let go of the store; what is under way is finished first."""
        if self._clockwork is not None:
            self._clockwork.cancel()
            await asyncio.gather(self._clockwork, return_exceptions=True)
        await self.evaluations.close()
        await self.desk.close()
        await asyncio.to_thread(self.book.close)
        self.links.close()
        self.tokens.close()
        self.mark.release()
        say("stopped", store=str(self.place))

    def _gave_up(self, policy: str, number: int) -> None:
        self.metrics.expired.labels(policy).inc(number)

    async def _run_clockwork(self) -> None:
        """What time brings: tokens and policies that others made or deleted."""
        while True:
            await asyncio.sleep(_TICK)
            self.slow_bodies.cut_off()
            for part in (self.book.look, self.tokens.refresh, self.mark.keep):
                try:
                    await asyncio.to_thread(part)
                except Exception as error:  # the other parts go on
                    say("the clockwork failed", logging.WARNING, error=str(error))
            await self.desk.rest()
            if self._waits_for_tokens and len(self.tokens) > 0:
                self.needs_tokens = True
