"""A storage that waits and fails when a test says so."""

import asyncio
import threading

from hierbandits.service.storage import StorageFailed


class HeldStorage:
    """A real storage whose commits can be refused, or held back until they may go on."""

    def __init__(self, storage):
        self._storage = storage
        self.fails = lambda batch: False
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.commits = 0
        self.entered = 0

    def __getattr__(self, name):
        return getattr(self._storage, name)

    def commit(self, batch):
        self.entered += 1
        self.may_go_on.wait(30.0)
        if self.fails(batch):
            raise StorageFailed("the disk is full")
        self._storage.commit(batch)
        self.commits += 1

    async def holds_one(self):
        """Wait until a commit is held back."""
        while self.entered == self.commits:
            await asyncio.sleep(0.001)
