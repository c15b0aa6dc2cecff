"""Many requests, one commit: whatever waits while the disk is busy is written next, together."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from weakref import WeakSet

from hierbandits.service.storage import Batch, Storage

_LOST = RuntimeError("events before these are lost")


@dataclass(slots=True, eq=False)
class _Waiting:
    batch: Batch
    owner: object
    tell: Callable[[Exception | None], None]


class GroupCommit:
    """A thread that writes batches in the order in which they come.

    `tell` is called in the event loop when a batch is on the disk, or with the error if it is not.
    If a batch of an owner fails, all later batches of that owner fail too: they came after events
    that are not there.  `watch` is told the number of events and the seconds of each commit.
    """

    def __init__(
        self, storage: Storage, watch: Callable[[int, float], None] = lambda size, seconds: None
    ) -> None:
        self._storage, self._watch = storage, watch
        self._waiting: list[_Waiting] = []
        self._lost: WeakSet[object] = WeakSet()  # owners whose events are lost
        self._wake = threading.Condition()
        self._is_closing = False
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin to write, for the event loop that runs."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="commits", daemon=True)
        self._thread.start()

    def submit(self, batch: Batch, owner: object, tell: Callable[[Exception | None], None]) -> None:
        """Write a batch soon."""
        with self._wake:
            self._waiting.append(_Waiting(batch, owner, tell))
            self._wake.notify()

    async def settled(self) -> None:
        """Wait until all that was submitted is written, or has failed."""
        done = asyncio.get_running_loop().create_future()
        self.submit(Batch(), self, lambda error: done.set_result(None))
        await done

    async def close(self) -> None:
        """Write what waits, then stop."""
        with self._wake:
            self._is_closing = True
            self._wake.notify()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._is_closing:
                    self._wake.wait()
                waiting, self._waiting = self._waiting, []
            if not waiting:
                return
            self._write(waiting)
            del waiting  # nor its owners, while nothing comes

    def _write(self, waiting: list[_Waiting]) -> None:
        """Write all at once, or, if that fails, each alone; tell everyone what became of theirs."""
        sound = [one for one in waiting if one.owner not in self._lost]
        answers: list[tuple[_Waiting, Exception | None]] = []
        error = self._commit(sound)
        if error is None:
            answers += [(one, None) for one in sound]
        else:
            for one in sound:
                failure = _LOST if one.owner in self._lost else self._commit([one])
                if failure is not None:
                    self._lost.add(one.owner)
                answers.append((one, failure))
        answers += [(one, _LOST) for one in waiting if one not in sound]
        assert self._loop is not None
        self._loop.call_soon_threadsafe(_tell_all, answers)

    def _commit(self, some: list[_Waiting]) -> Exception | None:
        """Write batches as one; the error if that cannot be done."""
        whole, start = Batch(), perf_counter()
        for one in some:
            whole.add(one.batch)
        try:
            if whole:
                self._storage.commit(whole)
                self._watch(len(whole.events), perf_counter() - start)
        except Exception as error:
            return error
        return None


def _tell_all(answers: list[tuple[_Waiting, Exception | None]]) -> None:
    for one, answer in answers:
        one.tell(answer)
