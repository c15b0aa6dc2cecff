"""A policy of the service without a server: its ledger may fail, and time is a number."""

import asyncio

import numpy as np

from hierbandits.service.policy_book import PolicyBook
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.snapshots import Snapshots
from hierbandits.service.sqlite_storage import SqliteStorage
from hierbandits.service.wire import DecisionRequest
from support.faulty_storage import FaultyStorage, SlowCommits
from support.served_truth import SETTINGS

NAME = "shop"


class Desk:
    """Opens what is in a folder; `await desk.create()` makes a policy."""

    def __init__(self, folder, *, seed=0, now=1_000_000.0):
        self.now, rng = now, np.random.default_rng(seed)
        self.ledger = SqliteStorage(folder / "ledger.db")
        self.storage = FaultyStorage(self.ledger, rng)
        self.snapshots = Snapshots(folder / "snapshots")
        self.commits = SlowCommits(self.storage, rng)
        self.commits.start()
        self.book = PolicyBook(self.storage, self.snapshots, self.commits, lambda: self.now)
        self.book.open()

    @property
    def turns(self):
        return self.book.turns(NAME)

    @property
    def live(self):
        return self.turns.live

    async def create(self, **more):
        await self.book.put(NAME, PolicySettings(**SETTINGS | more))
        return self

    async def decide(self, *ids, task="a-task"):
        """Decisions of these ids, in one turn."""
        asked = [self.turns.ask("decide", DecisionRequest(task, id=id)) for id in ids]
        return await asyncio.gather(*asked)

    async def decide_round(self, ids, tasks):
        """Decisions of these ids for these tasks, in one round."""
        rows = [DecisionRequest(task, id=id) for id, task in zip(ids, tasks, strict=True)]
        return await self.call("decide", rows)

    async def call(self, name, *given):
        """What a method of the policy gives, in a turn."""
        return await self.turns.ask("call", lambda: getattr(self.live, name)(*given))

    async def ready(self):
        """Wait until the policy is loaded again."""
        for _ in range(100):
            if self.book.is_ready:
                return
            await asyncio.sleep(1.0)
        raise AssertionError("the policy is never loaded again")
