"""A candidate in the shadow of a policy: it sees all that happens there, and says what it would do.

The ledger of a shadow begins with a copy of the policy's.  From then on each event of the policy
becomes one event of the shadow, in order, which says by its `source` which one it was.  So a shadow
goes on where it was, also after a restart, and nothing is left out or seen twice.
"""

import asyncio
from functools import partial
from itertools import islice
from logging import WARNING
from typing import Any

from hierbandits.agent.decision import task_name
from hierbandits.service.api_problem import Problem
from hierbandits.service.json_log import say
from hierbandits.service.live_policy import LivePolicy
from hierbandits.service.policy_book import PolicyBook
from hierbandits.service.policy_turns import PolicyTurns
from hierbandits.service.storage import Storage, StorageFailed
from hierbandits.service.stored_event import CHANGE, DELETED, ERASED, MEASURE, decoded, encoded
from hierbandits.service.wire import DecisionRequest

AT_ONCE = 200
"""The events that a shadow takes in one turn."""

_NOTHING: dict[str, Any] = {"kind": MEASURE, "ids": [], "names": [], "values": [], "groups": []}
_OF_POLICY = ("group", "gap", "expected", "expected_std", "odds", "would")
_ANY_ARM = ("control", "sticky")  # groups whose decisions were offered one arm alone


class Shadowing:
    """Feeds shadows, one event after the other; nobody waits for them."""

    def __init__(self, book: PolicyBook, storage: Storage) -> None:
        self._book, self._storage = book, storage
        self._watched: list[str] = []  # policies that have a shadow
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._cannot: dict[int, int] = {}  # shadows that cannot learn an event, and which

    def look(self) -> None:
        """Find the policies that have a shadow, and begin to feed what is new."""
        self._loop = asyncio.get_running_loop()
        found = self._book.all_turns
        self._watched = [one.live.record.name for one in found if one.live.rollout.state.shadow]
        self.wake()

    def wake(self) -> None:
        """Something is stored; any thread may say so."""
        if self._watched and self._loop is not None:
            self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        self._wake.set()
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """Feed no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._watched:
            await self._wake.wait()
            self._wake.clear()
            for name in list(self._watched):
                try:
                    await self.feed(name)
                except (Problem, StorageFailed):  # it is being loaded, or the disk is full
                    continue

    async def feed(self, name: str) -> None:
        """Let the shadow of a policy see all that is stored."""
        turns = self._book.turns(name)
        shadow_name = turns.live.rollout.state.shadow
        if shadow_name not in self._book.names:
            return
        shadow = self._book.turns(shadow_name)
        while shadow.live.settings.mode == "shadow" and shadow.live.record.id not in self._cannot:
            seen = last_source(shadow.live)
            if seen is None:
                return
            events = await asyncio.to_thread(self._after, turns.live.record.id, seen)
            if not events:
                return
            await shadow.ask("call", partial(self._take, shadow, turns, events))

    def _after(self, policy: int, number: int) -> list[tuple[int, bytes]]:
        return list(islice(self._storage.events(policy, number), AT_ONCE))

    def _take(self, shadow: PolicyTurns, of: PolicyTurns, events: list[tuple[int, bytes]]) -> None:
        """Take those of some events that are new, in one turn of the shadow."""
        live = shadow.live
        seen = last_source(live)
        for number, data in events:
            if seen is None or number <= seen:
                continue
            try:
                follow(live, of.live, number, data)
            except ValueError as error:
                self._cannot[live.record.id] = number
                say("a shadow cannot follow", WARNING, policy=live.record.name, error=str(error))
                return


def last_source(live: LivePolicy) -> int | None:
    """The last event of its policy that a shadow has seen; None if it is no shadow of any."""
    for number in range(live.number, 0, -1):
        data = live.view.event(number)
        event = {} if data is None else decoded(data)
        if "source" in event:
            return int(event["source"])
        if event.get("what") == "copied":
            return int(event["until"]) if "until" in event else None
    return None


def follow(live: LivePolicy, of: LivePolicy, number: int, data: bytes) -> None:
    """Let an event of a policy happen in its shadow; a ValueError if that cannot learn it."""
    event = decoded(data)
    kind, more = event["kind"], dict[str, Any](source=number)
    if kind in (CHANGE, MEASURE, ERASED, DELETED):  # only the clock is the same
        live.mirror(encoded({**_NOTHING, "time": event["time"], **more}))
    elif kind == "decide":
        luck, asked = live.agent.begin_luck(), of.rounds.of(number)
        rows = [
            None if parts is None else _shown(live, parts, None if asked is None else asked[i])
            for i, parts in enumerate(event["decisions"])
        ]
        more |= {"decisions": rows, "policy_version": live.version, "luck": luck}
        live.mirror(encoded(event | more))
    else:
        live.mirror(encoded({k: v for k, v in event.items() if k != "shown"} | more))


def _shown(
    live: LivePolicy, parts: dict[str, Any], asked: DecisionRequest | None
) -> dict[str, Any]:
    """A decision as the shadow has it, with what it would have done if that can be told."""
    kept = {name: value for name, value in parts.items() if name not in _OF_POLICY}
    kept["group"] = "shadow"
    agent, context = live.agent, None
    arms: Any = None if parts.get("group") in _ANY_ARM else [parts["offered"]]
    if not agent.prior.is_armed:  # the ledger has the features of the played arm alone
        if asked is not None:
            arms = None if asked.arms is None else [asked.arms]
            context = None if asked.context is None else [asked.context]
        elif agent.offers is None or live.settings.encoder is not None:
            return kept
    (kept["would"],) = agent.advise([task_name(parts["task"])], arms, context=context)
    return kept
