"""One lock for each agent, which survives a fork of the process."""

import os
import re
import time
from itertools import compress
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias
from weakref import WeakSet

if TYPE_CHECKING:
    from _thread import RLock as Lock

PATIENCE = 5.0
"""So many seconds a fork waits for calls of agents to end."""

TRY = 0.02
"""So many seconds it waits at first for one of them while it holds the locks of others."""


class Halfway:
    """In place of the lock of an agent that was in the middle of a call at the fork."""

    def __enter__(self) -> NoReturn:
        raise RuntimeError(
            "agent must not be in a call when the process forks, but this one was: its copy in "
            "this child is unusable, load or replay an agent here"
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Never called."""


AgentLock: TypeAlias = "Lock | Halfway"


class Locked(Protocol):
    """Something with a lock of its own."""

    _lock: AgentLock

    def _begin_child(self) -> None:
        """Be told that this is the copy in a child."""


class ForkGuard:
    """Holds all locks while the process forks: then no call is halfway in the child's copy.

    Where a lock is busy all are let go, so that a thread that holds one and wants another can go
    on.  Then the busy one is awaited, and comes before the others when they are tried again.
    """

    def __init__(self) -> None:
        self.patience = PATIENCE
        self._own = RLock()  # of the set below; who holds it waits for no other lock for long
        self._agents: WeakSet[Locked] = WeakSet()
        self._taken: list[Lock] = []
        self._busy: list[Locked] = []
        os.register_at_fork(
            before=self._take, after_in_parent=self._release, after_in_child=self._begin
        )

    def watch(self, agent: Locked) -> None:
        """Let no fork happen while this agent, which has its lock, is in a call."""
        with self._own:
            self._agents.add(agent)

    def _take(self) -> None:
        """Before the fork, which nothing can keep from happening.

        If this is interrupted, no lock is held, and nobody knows who is in a call: no agent is of
        any use in the child.
        """
        taken: list[Lock] = []
        try:
            self._take_all(taken)
        except BaseException:
            self._busy = list(self._agents)
            _let_go(taken)
            raise

    def _take_all(self, taken: "list[Lock]") -> None:
        deadline, wait = time.monotonic() + self.patience, TRY
        first: list[Locked] = []  # those that were busy, the latest first
        while True:
            left = deadline - time.monotonic()
            awaited = _lock_of(first[0]) if first else None
            if awaited is not None and left > 0:
                _take_one(awaited, left, taken)
            _take_one(self._own, -1.0, taken)
            busy = self._try_all(first, taken, max(0.0, min(wait, left)))
            if not busy or left <= 0:
                self._taken, self._busy = taken, busy
                return
            _let_go(taken)
            first = [*busy, *(agent for agent in first if agent not in busy)]
            wait *= 2  # the longer, the fairer to a fork among threads that never rest

    def _try_all(self, first: list[Locked], taken: "list[Lock]", wait: float) -> list[Locked]:
        """Take the locks of all agents; returns those that are busy, or the first."""
        busy = []
        for agent in [*first, *(agent for agent in list(self._agents) if agent not in first)]:
            lock = _lock_of(agent)
            if lock is None:
                continue
            if not _take_one(lock, wait, taken):
                busy.append(agent)
                if wait > 0:
                    break
        return busy

    def _begin(self) -> None:
        """In the child."""
        try:
            for agent in self._busy:
                agent._lock = Halfway()
            for agent in self._agents:
                if _lock_of(agent) is not None:
                    agent._begin_child()
        finally:
            self._release()

    def _release(self) -> None:
        taken, self._taken, self._busy = self._taken, [], []
        _let_go(taken)


def _take_one(lock: "Lock", wait: float, taken: "list[Lock]") -> bool:
    """Take a lock, and note it before any interrupt comes; False if it is busy for so long."""
    size = len(taken)
    taken.extend(compress((lock,), map(lock.acquire, (True,), (wait,))))
    return len(taken) > size


def _let_go(taken: "list[Lock]") -> None:
    """Let all locks go."""
    while taken:
        taken.pop().release()


def depth(lock: "Lock") -> int:
    """How many calls, each inside the one before it, hold a lock; 0 if it is free.

    The lock says so in its text alone, in all versions of Python.
    """
    count = re.search(r"count=(\d+)", repr(lock))
    assert count is not None
    return int(count[1])


def _lock_of(agent: Locked) -> "Lock | None":
    """The lock of an agent; none if the agent is unusable."""
    return None if isinstance(agent._lock, Halfway) else agent._lock


FORK_GUARD = ForkGuard()
"""One for the whole process, as hooks of a fork are."""
