"""Requests that come at the same time take one turn of a shared policy, in a thread of its own."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from hierbandits.service.api_problem import PolicyGone
from hierbandits.service.request_queue import (
    Answer,
    Asked,
    RequestQueue,
    answers_of,
    called,
)
from hierbandits.service.shared_policy import SharedPolicy


class SharedTurns:
    """Lets a policy serve all requests that wait, as one group; each is stored when answered.

    `grown` is called, in any thread, when enough rewards have come that a fold is due.
    """

    def __init__(self, live: SharedPolicy, grown: Callable[[], None]) -> None:
        self.live, self._on_grown = live, grown
        self.is_gone = False
        """Whether the policy was found deleted; another one of its name is to be looked for."""
        self._queue = RequestQueue()
        self._is_serving = False
        self._thread = ThreadPoolExecutor(1, f"policy {live.record.name}")

    @property
    def waiting(self) -> int:
        """Requests that wait for their answers."""
        return self._queue.unanswered

    async def ask(self, kind: str, request: Any) -> Any:
        """The answer to a request: "decide" or "reward", or "call" or "look" with a function."""
        future = self._queue.join(kind, request)
        self._seek_turn()
        return await future

    def _seek_turn(self) -> None:
        if self._queue and not self._is_serving:
            self._is_serving = True
            asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        queue = self._queue.take()
        loop = asyncio.get_running_loop()
        served = loop.run_in_executor(self._thread, answers_of, queue, self._serve)
        served.add_done_callback(partial(self._tell, queue))

    def _tell(self, queue: list[Asked], served: "asyncio.Future[list[Answer]]") -> None:
        error = served.exception()
        answers = served.result() if error is None else [(one[2], error) for one in queue]
        self._is_serving = False
        self._queue.tell(answers)
        self._seek_turn()

    def _serve(self, kind: str, requests: Sequence[Any]) -> Sequence[Any]:
        outcomes = self._outcomes(kind, requests)
        if any(isinstance(one, PolicyGone) for one in outcomes):
            self.is_gone = True
        return outcomes

    def _outcomes(self, kind: str, requests: Sequence[Any]) -> Sequence[Any]:
        try:
            if kind == "decide":
                return self.live.decide(requests)
            if kind == "reward":
                return self.live.reward(requests)
            return [called(call) for call in requests]
        except Exception as error:
            return [error] * len(requests)
        finally:
            if self.live.has_grown:
                self._on_grown()

    def between(self, call: Callable[[], Any]) -> Any:
        """What a call gives, from any thread: it runs between two turns, while requests wait."""
        return self._thread.submit(call).result()

    def close(self) -> None:
        """Serve no more, after what is under way."""
        self._thread.shutdown()
