"""The deletion of tasks: from a policy, its ledger, its history and its shadow."""

import asyncio
from functools import partial

from hierbandits.agent.decision import task_name
from hierbandits.service.api_problem import Problem
from hierbandits.service.json_log import say
from hierbandits.service.ledger_desk import LedgerDesk
from hierbandits.service.live_rollout import ANYBODY
from hierbandits.service.policy_book import PolicyBook
from hierbandits.service.shadowing import Shadowing
from hierbandits.service.snapshots import Snapshots
from hierbandits.service.storage import PolicyRecord, Storage
from hierbandits.service.stored_event import DELETED, decoded
from hierbandits.types import TaskName

_DONE = b'{"kind":"%s"' % DELETED.encode()


class TaskDeletions:
    """Deletes tasks, and finishes deletions that were cut off.

    A deletion is an event that names the task, then the shadow loses it, then the ledger.  Only
    this last step takes the name out of the event: what is found there was not finished.
    """

    def __init__(
        self,
        book: PolicyBook,
        storage: Storage,
        snapshots: Snapshots,
        shadowing: Shadowing,
        desk: LedgerDesk,
    ) -> None:
        self._book, self._storage, self._snapshots = book, storage, snapshots
        self._shadowing, self._desk = shadowing, desk

    async def forget(
        self, name: str, task: TaskName, by: str = ANYBODY, *, until: int | None = None
    ) -> int:
        """Delete a task from a policy, its ledger and its history; how many events held it.

        `until` is the event that forgot the task already, of a deletion that was cut off.
        """
        await self._desk.close()  # its history holds what is deleted; a new one reads the ledger
        shadow = self._book.turns(name).live.rollout.state.shadow
        elsewhere = None
        if shadow in self._book.names:
            elsewhere = partial(self._forget_in_shadow, name, shadow, task, by)
        try:
            return await self._book.forget(name, task, by, until=until, elsewhere=elsewhere)
        finally:
            await self._desk.close()
            for one in (name, shadow):
                if one in self._book.names:
                    self._snapshots.delete_history(self._book.record(one).id)

    async def _forget_in_shadow(
        self, name: str, shadow: str, task: TaskName, by: str, number: int
    ) -> None:
        """Delete a task from the shadow of a policy that has forgotten it in event `number`."""
        await self._shadowing.feed(name)
        turns = self._book.turns(shadow)
        await turns.ask("call", lambda: None)  # what it has seen is stored then
        record = turns.live.record
        until = await self._book.last_forgotten(record, task)
        if until is None and await asyncio.to_thread(self._is_deleted, record, number):
            return  # if the shadow knows the task, that has come again
        try:
            await self._book.forget(shadow, task, by, until=until)
        except Problem as problem:
            if problem.status != 404:  # it never met the task
                raise

    def _is_deleted(self, shadow: PolicyRecord, number: int) -> bool:
        """Whether a shadow is done with the deletion that event `number` of its policy was."""
        return any(
            data.startswith(_DONE) and decoded(data).get("source") == number
            for _, data in self._storage.events(shadow.id)
        )

    async def finish(self) -> None:
        """Finish what was cut off: a process has died, say, or the disk was full."""
        for turns in self._book.all_turns:
            record, unfinished = turns.live.record, list(turns.live.rollout.state.erasing)
            for number in unfinished:
                if self._book.changing(record.name).locked() or not turns.is_open:
                    break  # somebody is at it
                data = self._storage.event(record.id, number)
                event = {} if data is None else decoded(data)
                if event.get("kind") == "forget":
                    task, by = task_name(event["task"]), event.get("by") or ANYBODY
                    await self.forget(record.name, task, by, until=number)
                    say("a deletion that was cut off is done", policy=record.name)
