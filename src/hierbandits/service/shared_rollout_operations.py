"""Operations on the rollouts of policies that workers share."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hierbandits.service.operation import Call, Handler
from hierbandits.service.rollout_operations import (
    AuditReply,
    RolloutReply,
    RolloutRequest,
    audit_page,
    shown_rollout,
)
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.shared_rollout import SharedRollout, changes_of, rollout_now
from hierbandits.service.shared_version import SharedVersion

if TYPE_CHECKING:
    from hierbandits.service.shared_folder import SharedFolder
    from hierbandits.service.shared_service import SharedService


class SharedRolloutOperations:
    """Handlers of one worker."""

    def __init__(self, service: "SharedService") -> None:
        self._service, self._book, self._links = service, service.book, service.links

    async def show_rollout(self, call: Call) -> RolloutReply:
        """Where a rollout stands."""
        policy = (await asyncio.to_thread(self._book.record, call.policy)).id
        return shown_rollout(await asyncio.to_thread(rollout_now, self._links.read, policy))

    async def change_rollout(self, call: Call) -> RolloutReply:
        """Start a ramp, hold it, resume it, or roll the policy back."""
        turns = await self._service.find_turns(call.policy)

        def change() -> None:
            act(self._book.folder(turns.live), call.body, call.who)
            turns.live.refresh()

        await turns.ask("call", change)
        return await self.show_rollout(call)

    async def audit(self, call: Call) -> AuditReply:
        """Who changed what and when."""
        policy = (await asyncio.to_thread(self._book.record, call.policy)).id
        state = RolloutState()
        for number, event in await asyncio.to_thread(changes_of, self._links.read, policy):
            state.apply(number, event)
        return audit_page(call, state, await asyncio.to_thread(self._book.versions, call.policy))


def act(folder: "SharedFolder", asked: RolloutRequest, by: str) -> None:
    """Change the rollout of a policy as somebody asks.

    The first time this makes a version that programs cannot read which know of no rollouts.
    """

    def change(old: SharedVersion, rollout: SharedRollout, number: int) -> SharedVersion:
        new = old.with_rollout()
        made = number if new != old else None
        rollout.act(old, asked.action, asked.steps, asked.reason, by, made)
        return new

    folder.change_version(change)


def handlers(service: "SharedService") -> Mapping[str, Handler]:
    """The handlers of a worker, by the names of operations."""
    own = SharedRolloutOperations(service)
    return {one.__name__: one for one in (own.show_rollout, own.change_rollout, own.audit)}
