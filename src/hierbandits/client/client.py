"""The client for threads: each call waits for its reply."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import count
from os import PathLike
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from hierbandits.client import client_calls, rollout_calls
from hierbandits.client.client_errors import ServiceError
from hierbandits.client.client_replies import CandidateFindings, RewardReceipt
from hierbandits.client.client_request import ClientRequest, as_method
from hierbandits.client.connection import check_httpx, connection
from hierbandits.client.outcome import Outcome
from hierbandits.client.retries import Retries
from hierbandits.client.reward_buffer import RewardBuffer
from hierbandits.client.reward_file import Reward

if TYPE_CHECKING:
    import httpx

P = ParamSpec("P")
T = TypeVar("T")
_LOOK = 0.5  # seconds between looks at an evaluation


def _sent(call: Callable[P, ClientRequest[T]]) -> Callable[Concatenate["Client", P], T]:
    """A method that sends the request of a call."""

    @wraps(call)
    def method(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._send(call(*args, **kwargs))

    as_method(method, call)
    return method


class Client:
    """Asks a decision service; threads may share one.

    `url` and `token` are those of the environment, HIERBANDITS_URL and HIERBANDITS_TOKEN, unless
    they are given.  What may work later is repeated: no answer, 429, 503.  That is safe, since
    decisions carry ids that the client makes, and rewards count once.  `timeout` is in seconds, for
    each attempt.  Errors are of the class `ServiceError`: `NotFound`, `Conflict` and the like.
    `transport` is one of httpx, for a Unix socket, say.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 10.0,
        retries: int = 4,
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        check_httpx()
        import httpx

        self._connection = connection(url, token, timeout)
        self._retries = Retries(retries)
        self._http = httpx.Client(
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

    def buffered_rewards(self, path: str | PathLike[str], policy: str) -> RewardBuffer:
        """Rewards of a policy that are kept in a file until the service has them."""

        def send(policy: str, rewards: Sequence[Reward]) -> list[RewardReceipt | ServiceError]:
            return self._send(client_calls.reward_many(policy, rewards), Retries(0))

        return RewardBuffer(path, policy, send)

    def evaluate(
        self, policy: str, candidate: Mapping[str, Any], *, confidence: float = 0.95
    ) -> CandidateFindings:
        """Judge a candidate by the log of a policy, and wait until that is done.

        `candidate` has the settings that change: rule, prior, rewards or floor.
        """
        found = self.start_evaluation(policy, candidate, confidence=confidence)
        while (told := found.result()) is None:
            time.sleep(_LOOK)
            found = self.evaluation(policy, found.id)
        return told

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._connection!r})"

    def _send(self, request: ClientRequest[T], retries: Retries | None = None) -> T:
        import httpx

        url = self._connection.url + request.path
        for attempt in count():
            try:
                answer = self._http.request(
                    request.method, url, content=request.body, params=request.query or None
                )
                outcome = Outcome.answer(answer.status_code, answer.headers, answer.content)
            except httpx.RequestError as error:
                outcome = Outcome.silence(error, self._connection.url)
            wait = (retries or self._retries).wait(request, attempt, outcome)
            if wait is None:
                return outcome.value(request)
            time.sleep(wait)
        raise AssertionError("a request is sent until it has an outcome")
