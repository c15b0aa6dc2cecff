"""Requests that wait for the next turn of a policy, and how they are answered."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from hierbandits.service.api_problem import unavailable

Asked: TypeAlias = tuple[str, Any, "asyncio.Future[Any]"]
"""The kind of a request, the request, and who waits for its answer."""
Answer: TypeAlias = tuple["asyncio.Future[Any]", Any]

MOST_WAITING = 2_000
"""The requests of a policy that may wait for their answers; more are refused."""

_ORDER = {"decide": 0, "reward": 1, "call": 2, "look": 2}


class RequestQueue:
    """Requests in the order in which they came; all that wait are taken together."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._most = most
        self._asked: list[Asked] = []
        self.unanswered = 0
        """Requests that wait for their answers, also those that were taken."""

    def __len__(self) -> int:
        return len(self._asked)

    def join(self, kind: str, request: Any) -> "asyncio.Future[Any]":
        """Let a request wait: "decide" or "reward", "call" with a function, or "look"."""
        if self.unanswered >= self._most:
            raise unavailable("too many requests wait for this policy")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked.append((kind, request, future))
        self.unanswered += 1
        return future

    def take(self) -> list[Asked]:
        """All that wait now."""
        asked, self._asked = self._asked, []
        return asked

    def tell(self, answers: Sequence[Answer]) -> None:
        """Give answers to those who wait for them."""
        self.unanswered -= len(answers)
        for future, outcome in answers:
            if future.done():  # whoever asked is gone
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)


def answers_of(
    asked: list[Asked], serve: Callable[[str, Sequence[Any]], Sequence[Any]]
) -> list[Answer]:
    """What requests are told, those of one kind served as one.

    Nobody has heard of any of them: decisions go first, so that there are few kinds.
    """
    answers: list[Answer] = []
    ordered = sorted(asked, key=lambda one: _ORDER[one[0]])
    for kind, some in groupby(ordered, key=lambda one: one[0]):
        members = list(some)
        outcomes = serve(kind, [request for _, request, _ in members])
        answers += [
            (future, outcome) for (_, _, future), outcome in zip(members, outcomes, strict=True)
        ]
    return answers


def called(call: Callable[[], Any]) -> Any:
    """What a function gives, or the error that it raises."""
    try:
        return call()
    except Exception as error:
        return error
