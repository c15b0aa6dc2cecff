"""All policies of a service by name: created, versioned, loaded, deleted."""

import asyncio
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from logging import ERROR

from hierbandits.agent.journal import Event
from hierbandits.service.acting_version import ActingVersion
from hierbandits.service.api_problem import Problem, bad_request, not_found, unavailable
from hierbandits.service.group_commit import GroupCommit
from hierbandits.service.json_log import say
from hierbandits.service.live_policy import LivePolicy
from hierbandits.service.live_rollout import ANYBODY
from hierbandits.service.policy_archive import PolicyArchive
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.policy_turns import PolicyTurns
from hierbandits.service.policy_warm_up import warm_up_policy
from hierbandits.service.ramp import RampStep
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.snapshots import Snapshots, acting_versions, from_ledger
from hierbandits.service.storage import Batch, PolicyRecord, Storage, StorageFailed, VersionRecord
from hierbandits.service.task_erasure import TaskErasure, last_forgotten
from hierbandits.types import TaskName

LONGEST_NAME = 100
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}")


class PolicyBook:
    """Finds policies, and changes what they are.

    A policy that could not store what happened is loaded anew from the ledger; until then it
    answers 503.  Changes of one policy take turns.
    """

    def __init__(
        self,
        storage: Storage,
        snapshots: Snapshots,
        commits: GroupCommit,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._storage, self._snapshots, self._commits = storage, snapshots, commits
        self._clock = clock
        self._records: dict[str, PolicyRecord] = {}
        self._turns: dict[str, PolicyTurns] = {}
        self._changing: dict[str, asyncio.Lock] = {}
        self._loading: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Load all policies, and what they will call."""
        for record in self._storage.policies():
            self._records[record.name] = record
            turns = self._put_live(self._loaded(record))
            warm_up_policy(turns.live.settings, self._storage)

    @property
    def names(self) -> list[str]:
        """The names of all policies."""
        return sorted(self._records)

    @property
    def all_turns(self) -> list[PolicyTurns]:
        """All policies that are loaded."""
        return list(self._turns.values())

    @property
    def is_ready(self) -> bool:
        """Whether all policies are loaded, and can store what happens."""
        return all(name in self._turns and self._turns[name].is_open for name in self._records)

    def changing(self, name: str) -> asyncio.Lock:
        """Whoever changes what a policy is, or needs that nobody does, holds this."""
        return self._changing.setdefault(name, asyncio.Lock())

    def turns(self, name: str) -> PolicyTurns:
        """The policy of a name."""
        turns = self._turns.get(name)
        if turns is None:
            if name in self._records:
                raise unavailable("the policy is being loaded")
            raise not_found("policy", name)
        return turns

    def record(self, name: str) -> PolicyRecord:
        """What is stored of the policy of a name."""
        if name not in self._records:
            raise not_found("policy", name)
        return self._records[name]

    def versions(self, name: str) -> list[VersionRecord]:
        """All versions of a policy."""
        return self._storage.versions(self.record(name).id)

    def _loaded(self, record: PolicyRecord) -> LivePolicy:
        """A policy as the ledger has it."""
        last = self._storage.last(record.id)
        rollout = self._snapshots.load_rollout(record, self._storage, until=last)
        versions = []
        for number, settings in acting_versions(record, self._storage, rollout).items():
            written: list[Event] = []
            agent = self._snapshots.load(
                record, number, settings, self._storage, written.append,
                until=last, clock=self._clock,
            )  # fmt: skip
            written.clear()
            versions.append(ActingVersion(number, settings, agent, written))
        now, previous = versions[0], versions[1] if len(versions) > 1 else None
        return LivePolicy(
            record, now.settings, now.number, self._storage, last, now.agent, now.written,
            rollout, self._clock, previous,
        )  # fmt: skip

    def _put_live(self, live: LivePolicy) -> PolicyTurns:
        turns = PolicyTurns(live, self._commits, self._reload)
        self._turns[live.record.name] = turns
        return turns

    def _reload(self, lost: PolicyTurns) -> None:
        """Load a policy again whose events could not be stored."""
        task = asyncio.ensure_future(self._load_again(lost.live.record))
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    async def _load_again(self, record: PolicyRecord) -> None:
        """Load a policy, which is then looked at, and used once the storage can be written."""
        await self._commits.settled()  # or events that are on their way would be left out
        turns: PolicyTurns | None = None
        while self._records.get(record.name) == record:
            try:
                if turns is None:
                    live = await asyncio.to_thread(self._loaded, record)
                    if self._records.get(record.name) != record:
                        return
                    turns = self._put_live(live)
                    turns.is_paused = True
                await asyncio.to_thread(self._storage.try_writing)
                if self._storage.last(record.id) == turns.live.number:
                    turns.is_paused = False
                    return
                turns = None  # a commit that was cut off has come through since
            except Exception as error:
                say("a policy cannot go on", ERROR, policy=record.name, error=repr(error))
                await asyncio.sleep(1.0)

    async def put(
        self,
        name: str,
        settings: PolicySettings,
        by: str = ANYBODY,
        ramp: Sequence[RampStep] = (),
    ) -> tuple[int, bool]:
        """Create a policy, or make a new version of it; its version, and whether it is new.

        With `ramp` a ramp to the new version begins in the same turn.
        """
        check_name(name)
        try:
            await asyncio.to_thread(settings.check)
        except (ValueError, TypeError, LookupError, ArithmeticError, MemoryError) as error:
            raise bad_request(str(error)) from error
        await asyncio.to_thread(warm_up_policy, settings, self._storage)
        async with self.changing(name):
            if name not in self._records:
                live = await asyncio.to_thread(self._created, name, settings, by)
                self._records[name] = live.record
                self._put_live(live)
                return 1, True
            turns = self.turns(name)
            if turns.live.settings == settings:
                return turns.live.version, False
            return await self._new_version(name, turns, settings, by, ramp), False

    def _created(self, name: str, settings: PolicySettings, by: str) -> LivePolicy:
        """A new policy, stored with its first event: who made it."""
        written: list[Event] = []
        agent = settings.make_agent(written.append, secrets.randbits(63), self._clock)
        made: list[LivePolicy] = []

        def content(record: PolicyRecord) -> list[Batch]:
            live = LivePolicy(
                record, settings, 1, self._storage, 0, agent, written, clock=self._clock
            )
            live.rollout.settle(None, 1, by)
            made.append(live)
            return [live.take_batch()]

        self._storage.create_policy(name, settings.to_json(), self._clock(), content=content)
        (live,) = made
        live.stored(live.number)
        return live

    async def adopt(self, name: str, archive: PolicyArchive, by: str = ANYBODY) -> PolicyTurns:
        """Create a policy that goes on where another one stood."""
        check_name(name)
        try:
            agent = await asyncio.to_thread(archive.checked_agent)
        except (ValueError, TypeError, LookupError, ArithmeticError, MemoryError) as error:
            raise bad_request(str(error)) from error
        await asyncio.to_thread(warm_up_policy, archive.settings, self._storage)
        async with self.changing(name):
            if name in self._records:
                raise Problem(409, "exists", f"policy {name!r} must be new, but there is one")
            first = archive.versions[0]
            create = partial(
                self._storage.create_policy, salt=archive.salt, content=archive.batches
            )
            record = await asyncio.to_thread(create, name, first.settings, first.created)
            self._records[name] = record
            version, number = archive.versions[-1].number, agent.position[1]
            with suppress(OSError):  # else it sees all events once more
                await asyncio.to_thread(self._snapshots.save, record, number, {version: agent})
            turns = self._put_live(await asyncio.to_thread(self._loaded, record))
            await turns.ask("call", lambda: turns.live.rollout.change("imported", by))
            return turns

    async def _new_version(
        self,
        name: str,
        turns: PolicyTurns,
        settings: PolicySettings,
        by: str,
        ramp: Sequence[RampStep],
    ) -> int:
        """Let a policy be another one, which sees all that has happened with new eyes."""
        record = self._records[name]
        until, written = self._storage.last(record.id), list[Event]()
        try:
            # Meanwhile the policy goes on; `become` catches up with what happens then.
            agent = await asyncio.to_thread(
                from_ledger, record, settings, self._storage, written.append,
                until=until, clock=self._clock,
            )  # fmt: skip

            def become() -> int:
                beside = bool(ramp) and turns.live.rollout.check_candidate(ramp)
                now = self._clock()
                number = turns.become(settings, agent, written, until, now, by, beside=beside)
                if ramp:
                    turns.live.rollout.start_candidate(ramp, by)
                return number

            number: int = await turns.ask("call", become)
        except ValueError as error:
            raise Problem(409, "log_does_not_fit", f"settings must fit the log: {error}") from error
        return number

    async def forget(
        self,
        name: str,
        task: TaskName,
        by: str = ANYBODY,
        *,
        until: int | None = None,
        elsewhere: Callable[[int], Awaitable[None]] | None = None,
    ) -> int:
        """Delete a task from a policy and its ledger; returns how many events held it.

        `until` is the event that forgot the task already, of a deletion that was cut off.  The
        ledger says which task it is until it is deleted `elsewhere`, too, which is told this event.
        """
        async with self.changing(name):
            record, turns = self.record(name), self.turns(name)
            if until is not None:
                turns.live.view.hide(task, until)
            elif turns.is_lost:  # its agent may have forgotten what the ledger still holds
                raise unavailable("the policy is being loaded")
            elif turns.live.agent.has_met(task):
                until = await turns.ask("call", lambda: turns.live.forget(task, by))
            else:  # if an earlier deletion was cut off, the ledger holds what the agent forgot
                until = await self.last_forgotten(record, task)
            if until is None:
                raise not_found("task", str(task))
            if elsewhere is not None:
                await elsewhere(until)
            erasure = TaskErasure(task, until)
            changed = await asyncio.to_thread(self._storage.rewrite, record.id, erasure)
            self._snapshots.delete(record.id)
            turns.live.view.hide_no_more(task)
            await self._judge_anew(record)
            return changed

    async def last_forgotten(self, record: PolicyRecord, task: TaskName) -> int | None:
        """The last event that forgot a task whose deletion was cut off; None if there is none."""
        events = self._storage.events(record.id)
        return await asyncio.to_thread(last_forgotten, task, events)

    async def _judge_anew(self, record: PolicyRecord) -> None:
        """Let a policy's rollout be what the ledger says after a task was erased from it."""
        while self._records.get(record.name) == record:
            turns, seen = self._turns[record.name], self._storage.last(record.id)
            try:
                load = partial(self._snapshots.load_rollout, record, self._storage, until=seen)
                state = await asyncio.to_thread(load)
                if not turns.is_lost:
                    await turns.ask("look", partial(_replace_rollout, turns, state, seen))
                    return
            except (Problem, StorageFailed):
                pass
            await asyncio.sleep(0.1)  # it is being loaded

    async def delete(self, name: str) -> None:
        """Erase a policy and all that it has seen."""
        async with self.changing(name):
            record = self.record(name)
            self._turns.pop(name, None)
            del self._records[name]
            await asyncio.to_thread(self._storage.delete_policy, record.id)
            self._snapshots.delete(record.id)


def _replace_rollout(turns: PolicyTurns, state: RolloutState, seen: int) -> None:
    """Let a policy's rollout be another one, if the policy is the one that is served."""
    if turns.is_lost:
        raise unavailable("the policy is being loaded")
    turns.live.rollout.replace(state, seen)


def check_name(name: str) -> None:
    """Raise a Problem unless a policy may have this name."""
    if not _NAME.fullmatch(name):
        raise bad_request(
            f"name must be letters, digits, '.', '_' and '-', at most {LONGEST_NAME} of them and "
            f"the first a letter or a digit, got {name!r:.200}"
        )
