"""Operations on policies as workers serve them that share a store."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from hierbandits.service.api_problem import not_found
from hierbandits.service.archive_operations import log_reply
from hierbandits.service.log_export import write_decisions
from hierbandits.service.operation import Call, Handler
from hierbandits.service.policy_operations import named
from hierbandits.service.postgres_rows import task_key
from hierbandits.service.shared_dashboard import SharedDashboard
from hierbandits.service.shared_version import ArmChange
from hierbandits.service.stored_event import as_text
from hierbandits.service.wire import PolicyReply, VersionReply
from hierbandits.types import TaskName

if TYPE_CHECKING:
    from hierbandits.service.shared_policy import SharedPolicy
    from hierbandits.service.shared_service import SharedService

_COUNTS = (
    "SELECT (SELECT count(*) FROM shared_tasks WHERE policy = %(policy)s), "
    "(SELECT count(*) FROM shared_decisions WHERE policy = %(policy)s), "
    "(SELECT count(*) FROM shared_rewards WHERE policy = %(policy)s)"
)


class SharedOperations:
    """Handlers of one worker."""

    def __init__(self, service: "SharedService") -> None:
        self._service, self._book, self._links = service, service.book, service.links

    async def list_policies(self, call: Call) -> list[PolicyReply]:
        """All policies that the caller may see."""
        records = await asyncio.to_thread(self._book.records)
        seen = [one.name for one in records if call.token is None or call.token.sees(one.name)]
        return [await self._shown(name) for name in seen]

    async def show_policy(self, call: Call) -> PolicyReply:
        """A policy and its counts."""
        return await self._shown(call.policy)

    async def _shown(self, name: str) -> PolicyReply:
        turns = await self._service.find_turns(name)
        policy = turns.live.record.id

        async def count() -> Any:
            return await asyncio.to_thread(self._links.read, _COUNTS, {"policy": policy})

        ((tasks, decisions, rewards),) = await self._service.kept.of(("counts", policy), count)
        pending = await self._waiting(turns.live, decisions - rewards)

        def show(live: "SharedPolicy") -> PolicyReply:
            live.refresh()
            agent, _ = live.agent_with([])
            return PolicyReply(
                name, live.version, msgspec.to_builtins(live.settings), live.record.created,
                tasks, decisions, rewards, pending,
                None if agent.offers is None else list(agent.offers),
            )  # fmt: skip

        reply: PolicyReply = await turns.ask("call", lambda: show(turns.live))
        return reply

    async def _waiting(self, live: "SharedPolicy", unrewarded: int) -> int:
        """How many of the decisions without a reward are not given up."""
        wait, default = live.settings.reward_wait, live.settings.default_reward
        if wait is None or default is not None:
            return unrewarded

        async def count() -> Any:
            return await asyncio.to_thread(live.waits.waiting, wait)

        number: int = await self._service.kept.of(("waiting", live.record.id, wait), count)
        return number

    async def put_policy(self, call: Call) -> VersionReply:
        """Create a policy, or make a new version of it."""
        version, created = await asyncio.to_thread(self._book.put, call.policy, call.body, call.who)
        return VersionReply(call.policy, version, created)

    async def delete_policy(self, call: Call) -> None:
        """Delete a policy and its log."""
        await asyncio.to_thread(self._book.delete, call.policy)

    async def list_versions(self, call: Call) -> list[dict[str, Any]]:
        """All versions of a policy."""
        return [
            {"version": one.number, "created": one.created, "settings": json.loads(one.settings)}
            for one in await asyncio.to_thread(self._book.versions, call.policy)
        ]

    async def add_arm(self, call: Call) -> PolicyReply:
        """Offer one more arm."""
        arm = call.body
        widths = arm.hyper_mean, arm.hyper_std, arm.task_std
        return await self._changed(
            call, lambda live: ArmChange("add_arm", arm.name, *widths, call.who)
        )

    async def retire_arm(self, call: Call) -> PolicyReply:
        """Offer an arm no more."""

        def change(live: "SharedPolicy") -> ArmChange:
            live.refresh()
            arm: Any = named(call.part("arm"), (live.made.arms() or ()).__contains__)
            return ArmChange("retire_arm", arm, by=call.who)

        return await self._changed(call, change)

    async def _changed(
        self, call: Call, change: Callable[["SharedPolicy"], ArmChange]
    ) -> PolicyReply:
        turns = await self._service.find_turns(call.policy)
        live = turns.live
        await turns.ask("call", lambda: self._book.change_arms(live, change(live)))
        return await self._shown(call.policy)

    async def delete_task(self, call: Call) -> dict[str, Any]:
        """Delete a task, its decisions and its rewards."""
        changed = await self._of_task(call, lambda live, task: self._forget(live, task, call.who))
        await self._service.evaluations.stop(call.policy)  # they may have read the task
        return changed

    def _forget(self, live: "SharedPolicy", task: TaskName, by: str) -> dict[str, Any]:
        changed = self._book.folder(live).forget(task_key(as_text(task)), by)
        if changed is None:
            raise not_found("task", str(task))
        return {"events_changed": changed}

    async def _of_task(
        self, call: Call, do: Callable[["SharedPolicy", TaskName], dict[str, Any]]
    ) -> dict[str, Any]:
        turns = await self._service.find_turns(call.policy)

        def found() -> dict[str, Any]:
            live = turns.live
            return do(live, named(call.part("task"), lambda task: bool(live.agent_with([task])[1])))

        reply: dict[str, Any] = await turns.ask("call", found)
        return reply

    async def export_log(self, call: Call) -> Response:
        """The rewarded decisions as Parquet, or all of them."""
        live = (await self._service.find_turns(call.policy)).live

        def write(path: Path, *, every: bool) -> int:
            return write_decisions(live.view.logged(), path, every=every)

        return await log_reply(call, write)


def handlers(service: "SharedService") -> Mapping[str, Handler]:
    """The handlers of a worker, by the names of operations."""
    own = SharedOperations(service)
    some = (
        own.list_policies, own.show_policy, own.put_policy, own.delete_policy, own.list_versions,
        own.add_arm, own.retire_arm,
        own.delete_task, own.export_log,
    )  # fmt: skip
    page = SharedDashboard(service.links, service.desk, service.kept).handlers
    return {one.__name__: one for one in [*some, *page]}
