"""The client for asyncio: each call is awaited."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from itertools import count
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from hierbandits.client import client_calls, rollout_calls
from hierbandits.client.client_replies import CandidateFindings
from hierbandits.client.client_request import ClientRequest, as_method
from hierbandits.client.connection import check_httpx, connection
from hierbandits.client.outcome import Outcome
from hierbandits.client.retries import Retries

if TYPE_CHECKING:
    import httpx

P = ParamSpec("P")
T = TypeVar("T")
_LOOK = 0.5  # seconds between looks at an evaluation


def _sent(
    call: Callable[P, ClientRequest[T]],
) -> Callable[Concatenate["AsyncClient", P], Awaitable[T]]:
    """A method that sends the request of a call."""

    @wraps(call)
    async def method(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._send(call(*args, **kwargs))

    as_method(method, call)
    return method


class AsyncClient:
    """Asks a decision service, in one event loop; `Client` says the rest."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 10.0,
        retries: int = 4,
        transport: "httpx.AsyncBaseTransport | None" = None,
    ) -> None:
        check_httpx()
        import httpx

        self._connection = connection(url, token, timeout)
        self._retries = Retries(retries)
        self._http = httpx.AsyncClient(
            headers=self._connection.headers, timeout=timeout, transport=transport
        )

    decide = _sent(client_calls.decide)
    decide_many = _sent(client_calls.decide_many)
    decision = _sent(client_calls.decision)
    reward = _sent(client_calls.reward)
    reward_many = _sent(client_calls.reward_many)
    correct = _sent(client_calls.correct)
    measure = _sent(rollout_calls.measure)
    put_policy = _sent(client_calls.put_policy)
    policies = _sent(client_calls.policies)
    policy = _sent(client_calls.policy)
    versions = _sent(client_calls.versions)
    delete_policy = _sent(client_calls.delete_policy)
    rollout = _sent(rollout_calls.rollout)
    start_rollout = _sent(rollout_calls.start_rollout)
    change_rollout = _sent(rollout_calls.change_rollout)
    audit = _sent(rollout_calls.audit)
    promotion = _sent(rollout_calls.promotion)
    promote = _sent(rollout_calls.promote)
    add_arm = _sent(client_calls.add_arm)
    retire_arm = _sent(client_calls.retire_arm)
    tasks = _sent(client_calls.tasks)
    task = _sent(client_calls.task)
    delete_task = _sent(client_calls.delete_task)
    export_policy = _sent(client_calls.export_policy)
    import_policy = _sent(client_calls.import_policy)
    export_log = _sent(client_calls.export_log)
    start_evaluation = _sent(client_calls.start_evaluation)
    evaluation = _sent(client_calls.evaluation)
    backup = _sent(client_calls.backup)

    async def evaluate(
        self, policy: str, candidate: Mapping[str, Any], *, confidence: float = 0.95
    ) -> CandidateFindings:
        """Judge a candidate by the log of a policy, and wait until that is done."""
        found = await self.start_evaluation(policy, candidate, confidence=confidence)
        while (told := found.result()) is None:
            await asyncio.sleep(_LOOK)
            found = await self.evaluation(policy, found.id)
        return told

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self._connection!r})"

    async def _send(self, request: ClientRequest[T]) -> T:
        import httpx

        url = self._connection.url + request.path
        for attempt in count():
            try:
                answer = await self._http.request(
                    request.method, url, content=request.body, params=request.query or None
                )
                outcome = Outcome.answer(answer.status_code, answer.headers, answer.content)
            except httpx.RequestError as error:
                outcome = Outcome.silence(error, self._connection.url)
            wait = self._retries.wait(request, attempt, outcome)
            if wait is None:
                return outcome.value(request)
            await asyncio.sleep(wait)
        raise AssertionError("a request is sent until it has an outcome")
