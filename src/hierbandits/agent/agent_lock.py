"""One lock for each agent, which survives a fork of the process."""

import os
from threading import RLock
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from _thread import RLock as Lock


class ForkGuard:
    """Holds all locks while the process forks: then no call is halfway in the child's copy."""

    def __init__(self) -> None:
        self._locks: WeakSet[Lock] = WeakSet()
        self._taken: list[Lock] = []
        os.register_at_fork(
            before=self._take, after_in_parent=self._release, after_in_child=self._release
        )

    def new_lock(self) -> "Lock":
        """A lock that one thread may take several times."""
        lock = RLock()
        self._locks.add(lock)
        return lock

    def _take(self) -> None:
        locks = list(self._locks)
        for lock in locks:
            lock.acquire()
        self._taken = locks

    def _release(self) -> None:
        taken, self._taken = self._taken, []
        for lock in taken:
            lock.release()


FORK_GUARD = ForkGuard()
"""One for the whole process, as hooks of a fork are."""
