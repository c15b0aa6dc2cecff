"""The service as a whole: its storage, its policies, its clockwork."""

import asyncio
import fcntl
import logging
import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from hierbandits.service.child_process import ChildProcess
from hierbandits.service.data_place import DataPlace
from hierbandits.service.evaluations import Evaluations
from hierbandits.service.group_commit import GroupCommit
from hierbandits.service.json_log import say
from hierbandits.service.ledger_desk import LedgerDesk
from hierbandits.service.live_policy import LivePolicy
from hierbandits.service.operation import Handler
from hierbandits.service.policy_book import PolicyBook
from hierbandits.service.policy_turns import PolicyTurns
from hierbandits.service.service_metrics import ServiceMetrics
from hierbandits.service.shadowing import Shadowing
from hierbandits.service.slow_bodies import SlowBodies
from hierbandits.service.storage import StorageFailed
from hierbandits.service.task_deletions import TaskDeletions

MOST_BYTES = 1 << 20
PATIENCE = 10.0
_TICK = 1.0  # seconds between looks at the clock
_EVENTS_PER_SNAPSHOT = 50_000
_BYTES_PER_SNAPSHOT = 16 << 20  # an event may hold a round of thousands
_NICENESS = 19  # of the process that makes one, where nothing better is there


class Service:
    """Everything that requests use; `start` and `stop` in the event loop that serves them."""

    def __init__(
        self,
        folder: Path,
        *,
        store: str | None = None,  # the address of a PostgreSQL database in place of a ledger here
        waits: bool = False,  # for a process that serves the store to end
        needs_tokens: bool | None = True,  # None: as soon as there are any
        logs_requests: bool = False,
        logs_evaluations: bool = False,
        most_bytes: int = MOST_BYTES,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._folder_lock = FolderLock(folder)
        self.needs_tokens, self._waits_for_tokens = bool(needs_tokens), needs_tokens is None
        self.logs_requests = logs_requests
        self.logs_evaluations = logs_evaluations
        self.most_bytes, self.clock = most_bytes, clock
        self.slow_bodies = SlowBodies(patience)
        self.metrics = ServiceMetrics()
        try:
            self.place = DataPlace(folder, store)
            self.tokens = self.place.tokens()
            self.storage = self.place.storage(waits=waits)
        except BaseException:
            self._folder_lock.release()
            raise
        self.snapshots = self.place.snapshots
        self.snapshots.claim(*self.storage.owners)
        self.commits = GroupCommit(self.storage, self._committed)
        self.book = PolicyBook(self.storage, self.snapshots, self.commits, clock)
        self.evaluations = Evaluations(self.place, clock)
        self.shadowing = Shadowing(self.book, self.storage)
        self.desk = LedgerDesk(self.place)
        self.deletions = TaskDeletions(
            self.book, self.storage, self.snapshots, self.shadowing, self.desk
        )
        self._clockwork: asyncio.Task[None] | None = None
        self._snapshotting: asyncio.Task[None] | None = None
        self._tried: WeakKeyDictionary[LivePolicy, tuple[int, int]] = WeakKeyDictionary()
        self.metrics.before_scrape(self._fill_gauges)

    @property
    def alone(self) -> "Service":
        """Itself: no other process serves its data meanwhile."""
        return self

    @property
    def own_handlers(self) -> Mapping[str, Handler]:
        """Operations that it serves in other ways than usual, by name: none."""
        return {}

    async def not_ready(self) -> str | None:
        """Why it cannot serve; None if all policies are loaded, and can store what happens."""
        return None if self.book.is_ready else "some policies are being loaded"

    async def find_turns(self, name: str) -> PolicyTurns:
        """The policy of a name."""
        return self.book.turns(name)

    async def policy_marks(self) -> dict[str, list[Any]]:
        """All policies by name, each with what changes when it decides otherwise."""
        marks: dict[str, list[Any]] = {}
        for name in self.book.names:
            record, live = self.book.record(name), self.book.turns(name).live
            arms, share = live.agent.arms, live.rollout.state.ramp.share
            offers = None if arms is None else list(arms)
            marks[name] = [record.salt.hex(), live.version, offers, share]
        return marks

    async def start(self) -> None:
        """Load all policies and begin to serve."""
        self.commits.start()
        await asyncio.to_thread(self.book.open)
        self.shadowing.look()
        self._clockwork = asyncio.ensure_future(self._run_clockwork())
        say("started", folder=str(self.place), policies=len(self.book.names))

    async def stop(self) -> None:
        """Store what waits, leave a snapshot of each policy, and let the folder go."""
        tasks = [task for task in (self._clockwork, self._snapshotting) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.shadowing.stop()
        await self.evaluations.stop()
        await self.desk.close()
        await self.commits.close()
        for turns in self.book.all_turns:
            live = turns.live
            if self._is_stored(turns):
                agents = {one.number: one.agent for one in live.versions}
                self.snapshots.save(live.record, live.number, agents)
                self.snapshots.save_rollout(live.record, live.number, live.rollout.state)
        self.storage.close()
        self.tokens.close()
        self._folder_lock.release()
        say("stopped", folder=str(self.place))

    def _is_stored(self, turns: PolicyTurns) -> bool:
        """Whether a policy in memory is what the ledger has; not if that cannot be read."""
        try:
            last = self.storage.last(turns.live.record.id)
        except StorageFailed:
            return False
        return not turns.is_lost and not self.storage.is_over and turns.live.number == last

    def _committed(self, events: int, seconds: float) -> None:
        self.metrics.commits.observe(seconds)
        self.metrics.batches.observe(events)
        self.shadowing.wake()

    async def metrics_text(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return self.metrics.text()

    def _fill_gauges(self) -> None:
        self.metrics.loaded.set(len(self.book.names))
        self.metrics.ready.set(self.book.is_ready)
        self.metrics.forget_policies()
        for turns in self.book.all_turns:
            live = turns.live
            self.metrics.pending.labels(live.record.name).set(live.pending)
            self.metrics.show_rollout(live.record.name, live.rollout.state)
            belief = live.agent.belief
            number = float(belief.num_rewards.sum())
            if number:
                evidence = float(belief.log_evidence().sum()) / number
                self.metrics.evidence.labels(live.record.name).set(evidence)

    async def _run_clockwork(self) -> None:
        """What time brings: rewards that are too late, tokens that others made, snapshots."""
        while True:
            await asyncio.sleep(_TICK)
            self.slow_bodies.cut_off()
            if self.storage.is_over:
                say("another process has taken over the store: ending", logging.ERROR)
                signal.raise_signal(signal.SIGTERM)
                return
            self.shadowing.look()
            parts = (self._refresh_tokens, self._expire, self._step, self._snapshot_soon)
            for part in (*parts, self.deletions.finish, self.desk.rest):
                try:
                    await part()
                except Exception as error:  # the other parts go on
                    say("the clockwork failed", logging.ERROR, error=repr(error))

    async def _refresh_tokens(self) -> None:
        """See tokens that others made or revoked; once there are some, they may be needed."""
        await asyncio.to_thread(self.tokens.refresh)
        if self._waits_for_tokens and len(self.tokens) > 0:
            self.needs_tokens = True

    async def _expire(self) -> None:
        for turns in self.book.all_turns:
            if turns.live.settings.reward_wait is not None and turns.is_open:
                number = await turns.ask("call", partial(_expired, turns))
                if isinstance(number, int) and number:
                    self.metrics.expired.labels(turns.live.record.name).inc(number)

    async def _step(self) -> None:
        """Let ramps go on, also where nobody asks for decisions."""
        for turns in self.book.all_turns:
            if turns.live.rollout.is_due and turns.is_open:
                await turns.ask("call", partial(_stepped, turns))

    async def _snapshot_soon(self) -> None:
        """Let another process make a snapshot of a policy that has gone far beyond its last."""
        if self._snapshotting is not None and not self._snapshotting.done():
            return
        for turns in self.book.all_turns:
            live = turns.live
            events = live.number - self.snapshots.newest(live.record.id, live.version)
            number, size = self._tried.get(live, (0, 0))
            # None is made in the middle of a look at widths: it is tried again after some events.
            has_many = events >= _EVENTS_PER_SNAPSHOT
            is_later = live.number - number >= _EVENTS_PER_SNAPSHOT // 10
            is_large = events > 0 and live.written_bytes - size >= _BYTES_PER_SNAPSHOT
            if (has_many and is_later) or is_large:
                self._tried[live] = live.number, live.written_bytes
                self._snapshotting = asyncio.ensure_future(self._snapshot(live.record.name))
                return

    async def _snapshot(self, name: str) -> None:
        module, words = "hierbandits.service.snapshot_process", (str(self.folder), name)
        async with self.book.changing(name):  # or a task that is deleted meanwhile would be in it
            process = await ChildProcess.start(module, *words, env=self.place.environment())
            with suppress(ProcessLookupError):  # it has ended already
                _step_back(process.pid)
            try:
                code = await process.wait()
            finally:
                await process.end()
        if code != 0:
            say("a snapshot failed", logging.WARNING, policy=name)
            await asyncio.sleep(60.0)


def _step_back(process: int) -> None:
    """Let a process compute only when nobody else does: one that is just nice ends its slice."""
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(process, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.setpriority(os.PRIO_PROCESS, process, _NICENESS)


def _expired(turns: PolicyTurns) -> int:
    """Expire what is late in the policy as it is when its turn comes."""
    return turns.live.expire()


def _stepped(turns: PolicyTurns) -> None:
    """Let a ramp go on, if it is still time when the turn comes."""
    turns.live.rollout.step_if_due()


class FolderLock:
    """Keeps other processes out of a data folder until `release`."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise RuntimeError(
                f"data folder must not be in use, but another process serves {folder}"
            ) from None

    def release(self) -> None:
        """Let others in."""
        os.close(self._file)
