"""Requests that come at the same time take one turn of a policy together."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from hierbandits.agent import Agent
from hierbandits.agent.journal import Event
from hierbandits.service.api_problem import unavailable
from hierbandits.service.group_commit import GroupCommit
from hierbandits.service.live_policy import LivePolicy
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.request_queue import (
    MOST_WAITING,
    Answer,
    RequestQueue,
    answers_of,
    called,
)

_ENOUGH = 32
"""Requests that take a turn although the one before is still being stored.  Fewer wait for it: a
turn costs much the same for one request as for ten, and what they need is stored with them."""


class PolicyTurns:
    """Lets a policy serve all requests that wait, and answers when that is stored.

    Those of one kind are served as one, in the order in which they came.  `lost` is called if what
    happened could not be stored: the policy in memory is then ahead of the ledger, and must be
    loaded anew.
    """

    def __init__(
        self,
        live: LivePolicy,
        commits: GroupCommit,
        lost: Callable[["PolicyTurns"], None],
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self.live = live
        self._commits, self._on_lost = commits, lost
        self._queue = RequestQueue(most_waiting)
        self.is_lost = False
        self.is_paused = False  # while the storage cannot be written
        self._stored = live.number  # the last event that is known to be stored
        self._storing = 0  # batches
        self._is_next = False  # whether a turn is about to be taken

    @property
    def waiting(self) -> int:
        """Requests that wait for their answers."""
        return self._queue.unanswered

    @property
    def is_open(self) -> bool:
        """Whether anything may happen."""
        return not self.is_lost and not self.is_paused

    def become(
        self,
        settings: PolicySettings,
        agent: Agent,
        written: list[Event],
        seen: int,
        now: float,
        by: str,
        *,
        beside: bool = False,
    ) -> int:
        """Let the policy be its next version, in a turn of its own; returns the number of it."""
        self.live = self.live.become(settings, agent, written, seen, now, by, beside=beside)
        return self.live.version

    async def ask(self, kind: str, request: Any) -> Any:
        """The answer to a request: "decide" or "reward", "call" with a function, or "look".

        A look is a function that reads the ledger only: it goes on while nothing can be written.
        A Problem is raised; those of the parts of a whole, as in a round, are in the answer.
        """
        if not self.is_open and kind != "look":
            raise unavailable("the policy is being loaded" if self.is_lost else "the disk is full")
        if self.is_lost:
            return request()
        future = self._queue.join(kind, request)
        self._seek_turn()
        return await future

    def _seek_turn(self) -> None:
        """Let those that wait have their turn, if it is time."""
        is_time = not self._storing or len(self._queue) >= _ENOUGH
        if self._queue and is_time and not self._is_next:
            self._is_next = True
            asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._is_next = False
        self._answer_when_stored(answers_of(self._queue.take(), self._serve))

    def _serve(self, kind: str, requests: Sequence[Any]) -> Sequence[Any]:
        if self.is_lost:
            return [unavailable("the policy is being loaded")] * len(requests)
        try:
            if kind == "decide":
                return self.live.decide(requests)
            if kind == "reward":
                return self.live.reward(requests)
            return [self._called(call) for call in requests]
        except Exception as error:
            return [error] * len(requests)
        finally:
            if self.live.is_torn:
                self._lose()

    def _called(self, call: Callable[[], Any]) -> Any:
        """What a function gives, or the error that it raises."""
        if self.live.is_torn:  # by the call before
            return unavailable("the policy is being loaded")
        return called(call)

    def _answer_when_stored(self, answers: list[Answer]) -> None:
        """Store what happened; nobody hears of it before, nor of what others have just done."""
        number, batch = self.live.number, self.live.take_batch()
        if not batch and number <= self._stored:
            self._queue.tell(answers)
            return

        def done(error: Exception | None) -> None:
            self._storing -= 1
            if error is None:
                self._stored = number
                self.live.stored(number)
                self._queue.tell(answers)
            else:
                self._lose()
                lost = unavailable(f"not stored: {error}")
                self._queue.tell([(future, lost) for future, _ in answers])
            self._seek_turn()

        self._storing += 1
        self._commits.submit(batch, self, done)

    def _lose(self) -> None:
        if not self.is_lost:
            self.is_lost = True
            self.live.view.forget_fresh()
            self._on_lost(self)
