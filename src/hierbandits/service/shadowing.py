"""A candidate in the shadow of a policy: it sees what that decides, and says what it would do."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hierbandits.service.api_problem import Problem
from hierbandits.service.policy_turns import PolicyTurns
from hierbandits.service.storage import StorageFailed
from hierbandits.service.wire import DecisionReply, DecisionRequest

if TYPE_CHECKING:
    from hierbandits.service.service import Service

MOST_WAITING = 100
"""The requests that may wait for a shadow; it is not shown more until they are served."""

_RUNNING: set[asyncio.Task[None]] = set()


def show_decisions(
    service: "Service",
    policy: str,
    requests: Sequence[DecisionRequest],
    outcomes: Sequence[Any],
) -> None:
    """Show the shadow of a policy what was decided; nobody waits for it."""
    turns = _shadow(service, policy)
    if turns is None:
        return
    shown = [
        DecisionRequest(one.task, one.arms, reply.id, context=one.context, played=reply.arm)
        for one, reply in zip(requests, outcomes, strict=True)
        if isinstance(reply, DecisionReply) and not reply.duplicate
    ]
    if shown:
        _begin(turns, lambda: turns.live.decide(shown))


def show_rewards(service: "Service", policy: str, rewards: Sequence[tuple[str, float]]) -> None:
    """Show the shadow of a policy what rewards have come; nobody waits for it."""
    turns = _shadow(service, policy)
    if turns is not None:
        _begin(turns, lambda: turns.live.reward(rewards))


def _shadow(service: "Service", policy: str) -> PolicyTurns | None:
    """The shadow of a policy, if it has one that can be shown something."""
    try:
        name = service.book.turns(policy).live.rollout.state.shadow
        turns = None if name is None else service.book.turns(name)
    except Problem:  # it is gone, or being loaded
        return None
    if turns is None or turns.waiting >= MOST_WAITING or turns.live.settings.mode != "shadow":
        return None
    return turns


def _begin(turns: PolicyTurns, call: Callable[[], Any]) -> None:
    async def show() -> None:
        with suppress(Problem, StorageFailed):  # the policy itself has answered
            await turns.ask("call", call)

    task = asyncio.ensure_future(show())
    _RUNNING.add(task)
    task.add_done_callback(_RUNNING.discard)
