"""A ledger that fails now and then, and commits that come when a seed says so."""

import asyncio

from hierbandits.service.group_commit import GroupCommit
from hierbandits.service.storage import StorageFailed


class FaultyStorage:
    """A storage that raises StorageFailed at random, before it has written or after.

    `writes`, `reads` and `after` are shares: of commits and of other reads that fail, and of the
    failing commits that are stored all the same.
    """

    def __init__(self, storage, rng, *, writes=0.0, reads=0.0, after=0.5):
        self._storage, self._rng = storage, rng
        self.writes, self.reads, self.after = writes, reads, after
        self.faults = 0

    def _may_fail(self, share, what):
        if self._rng.random() < share:
            self.faults += 1
            raise StorageFailed(f"injected: {what}")

    def commit(self, batch):
        if self._rng.random() < self.writes * self.after:
            self.faults += 1
            self._storage.commit(batch)
            raise StorageFailed("injected: after the commit")
        self._may_fail(self.writes * (1 - self.after), "before the commit")
        self._storage.commit(batch)

    def try_writing(self):
        self._may_fail(self.writes, "try_writing")
        self._storage.try_writing()

    def rewrite(self, *given):
        self._may_fail(self.writes, "rewrite")
        return self._storage.rewrite(*given)

    def event(self, *given):
        self._may_fail(self.reads, "event")
        return self._storage.event(*given)

    def events(self, *given):
        self._may_fail(self.reads, "events")
        return self._storage.events(*given)

    def find_ids(self, *given):
        self._may_fail(self.reads, "find_ids")
        return self._storage.find_ids(*given)

    def rewarded_by(self, *given):
        self._may_fail(self.reads, "rewarded_by")
        return self._storage.rewarded_by(*given)

    def measured_by(self, *given):
        self._may_fail(self.reads, "measured_by")
        return self._storage.measured_by(*given)

    def __getattr__(self, name):
        return getattr(self._storage, name)


class SlowCommits(GroupCommit):
    """Commits without a thread: what waits is written after a while that `rng` chooses."""

    def __init__(self, storage, rng):
        super().__init__(storage)
        self._rng, self._is_called = rng, False

    def start(self):
        self._loop = asyncio.get_running_loop()

    def submit(self, batch, owner, tell):
        super().submit(batch, owner, tell)
        if not self._is_called:
            self._is_called = True
            self._loop.call_later(self._rng.uniform(0, 0.01), self._write_waiting)

    def _write_waiting(self):
        self._is_called = False
        waiting, self._waiting = self._waiting, []
        self._write(waiting)
