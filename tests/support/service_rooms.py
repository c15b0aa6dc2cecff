"""A policy book over a real ledger in a folder, for scenarios in an event loop."""

import asyncio

from hierbandits.service.api_problem import Problem
from hierbandits.service.group_commit import GroupCommit
from hierbandits.service.policy_book import PolicyBook
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.snapshots import Snapshots
from hierbandits.service.sqlite_storage import SqliteStorage
from hierbandits.service.wire import DecisionRequest
from support.held_storage import HeldStorage

PLAIN = PolicySettings(arms=["a", "b", "c"], draws=5)


class Room:
    """A book that is open, and short ways to ask its policies."""

    def __init__(self, folder):
        self.storage = HeldStorage(SqliteStorage(folder / "ledger.db"))
        self.snapshots = Snapshots(folder / "snapshots")
        self.commits = GroupCommit(self.storage)
        self.book = PolicyBook(self.storage, self.snapshots, self.commits)

    async def decide(self, task, name="shop", **parts):
        return await self._ask(name, "decide", DecisionRequest(task, **parts))

    async def reward(self, id, value, name="shop"):
        return await self._ask(name, "reward", (id, value))

    async def _ask(self, name, kind, request):
        """The answer, be it a Problem."""
        try:
            return await self.book.turns(name).ask(kind, request)
        except Problem as problem:
            return problem

    def agent(self, name="shop"):
        return self.book.turns(name).live.agent


def in_room(folder, scenario):
    """What a scenario gives in a book that is open."""

    async def main():
        room = Room(folder)
        room.commits.start()
        room.book.open()
        try:
            return await scenario(room)
        finally:
            room.storage.may_go_on.set()
            await room.commits.close()
            room.storage.close()

    return asyncio.run(main())


async def ready(room):
    """Wait until all policies are loaded."""
    while not room.book.is_ready:
        await asyncio.sleep(0.005)
