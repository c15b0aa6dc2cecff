"""One operation of the API: its path, who may ask for it, what it takes and gives."""

import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hierbandits.service.api_problem import PolicyGone, Problem, bad_request, not_found
from hierbandits.service.json_log import LOGGER, say
from hierbandits.service.live_rollout import ANYBODY
from hierbandits.service.storage import StorageDamaged, StorageFailed
from hierbandits.service.token_book import Token

if TYPE_CHECKING:
    from hierbandits.service.policy_turns import PolicyTurns
    from hierbandits.service.service import Service
    from hierbandits.service.shared_service import SharedService
    from hierbandits.service.shared_turns import SharedTurns

JSON = "application/json"
_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,100}")
_SLOW = 1.0  # seconds after which a request is worth a line in the log


@dataclass(slots=True)
class Call:
    """A request that may be served: where it goes, what it brings, who asks."""

    host: "Service | SharedService"
    scope: Scope
    token: Token | None
    body: Any

    @property
    def service(self) -> "Service":
        """The service that has its store alone; a Problem where workers share one."""
        alone = self.host.alone
        if alone is None:
            raise Problem(501, "not_shared", "workers that share a store do not serve this")
        return alone

    async def turns(self) -> "PolicyTurns | SharedTurns":
        """The policy that is named in the path."""
        return await self.host.find_turns(self.policy)

    @property
    def policy(self) -> str:
        """The name of the policy in the path."""
        return self.part("policy")

    def part(self, name: str) -> str:
        """A part of the path."""
        return str(self.scope["path_params"][name])

    @property
    def who(self) -> str:
        """The name of who asks."""
        return ANYBODY if self.token is None else self.token.name

    @property
    def query(self) -> QueryParams:
        """What comes after the question mark."""
        return QueryParams(self.scope["query_string"])

    def header(self, name: bytes) -> str:
        """A header by its name in small letters; empty if there is none."""
        return _header(self.scope, name)


Handler: TypeAlias = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done for a method and a path.

    `scope` is what a token must be good for; None if anyone may ask.  `takes` is the type of the
    body, `gives` that of the reply.  `handler` gives a reply that becomes JSON, or a Response.
    """

    name: str
    method: str
    path: str
    scope: str | None
    handler: Handler
    summary: str
    takes: Any = None
    gives: Any = None
    status: int = 200
    most_bytes: int | None = None  # of the body, if other than the service's
    media: str = JSON  # of the reply
    refusal: Callable[[Problem, Scope], dict[str, Any]] | None = None  # the body of a refusal
    query: Mapping[str, dict[str, Any]] = field(default_factory=dict)  # JSON schemas by name


class Endpoint:
    """Serves one operation: checks who asks, reads the body, answers, counts and logs."""

    def __init__(self, service: "Service | SharedService", operation: Operation) -> None:
        self._service, self._operation = service, operation
        self._decoder = None if operation.takes is None else msgspec.json.Decoder(operation.takes)
        self._latency = service.metrics.latency.labels(operation.name)
        self._counts: dict[int, Any] = {}
        self._ids, self._number = f"{secrets.token_hex(6)}-", count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        start = perf_counter()
        request_id = _header(scope, b"x-request-id")
        if not _REQUEST_ID.fullmatch(request_id):
            request_id = f"{self._ids}{next(self._number):x}"
        try:
            response = await self._served(scope, receive)
        except Problem as problem:
            response = self._refused(problem, scope)
        except (StorageFailed, StorageDamaged) as error:
            say("the storage failed", logging.ERROR, request_id=request_id, error=str(error))
            failure = Problem(503, "storage_failed", str(error), retry_after=1.0)
            response = self._refused(failure, scope)
        except Exception:
            LOGGER.exception("an error of the service", extra={"parts": {"request_id": request_id}})
            failure = Problem(500, "internal", f"an error, logged as {request_id}")
            response = self._refused(failure, scope)
        response.raw_headers.append((b"x-request-id", request_id.encode()))
        self._count(response.status_code, perf_counter() - start, scope, request_id)
        await response(scope, receive, send)

    def _refused(self, problem: Problem, scope: Scope) -> Response:
        refusal = self._operation.refusal
        return problem_response(problem, body=None if refusal is None else refusal(problem, scope))

    async def _served(self, scope: Scope, receive: Receive) -> Response:
        token = self._token(scope)
        body = None if self._decoder is None else await self._body(scope, receive)
        call = Call(self._service, scope, token, body)
        try:
            reply = await self._operation.handler(call)
        except PolicyGone:  # of before; there may be a new one of its name
            reply = await self._operation.handler(call)
        if isinstance(reply, Response):
            return reply
        if reply is None:
            return Response(status_code=204)
        return Response(msgspec.json.encode(reply), self._operation.status, media_type=JSON)

    def _token(self, scope: Scope) -> Token | None:
        """Who asks; a Problem if they may not."""
        operation, service = self._operation, self._service
        if operation.scope is None or not service.needs_tokens:
            return None
        kind, _, text = _header(scope, b"authorization").partition(" ")
        token = service.tokens.find(text, service.clock()) if kind.lower() == "bearer" else None
        if token is None:
            raise Problem(401, "unauthorized", "a token must be given: Authorization: Bearer ...")
        policy = scope["path_params"].get("policy")
        if policy is not None and not token.sees(policy):
            raise not_found("policy", policy)
        if not token.allows(operation.scope):
            raise Problem(403, "forbidden", f"the token must have the scope {operation.scope!r}")
        return token

    async def _body(self, scope: Scope, receive: Receive) -> Any:
        """The body, of the right type and not too large; one that is slow is cut off."""
        most = self._operation.most_bytes or self._service.most_bytes
        length = _header(scope, b"content-length")
        if length.isdigit() and int(length) > most:
            raise Problem(413, "too_large", f"the body must have at most {most} bytes")
        with self._service.slow_bodies.watching():
            message = await receive()
            data: bytes | bytearray = message.get("body", b"")
            if message.get("more_body", False):
                data = bytearray(data)
                while message.get("more_body", False) and len(data) <= most:
                    message = await receive()
                    data += message.get("body", b"")
        if message["type"] == "http.disconnect":
            raise Problem(400, "gone", "the client is gone")
        if len(data) > most:
            raise Problem(413, "too_large", f"the body must have at most {most} bytes")
        if self._operation.takes is bytes:
            return bytes(data)
        assert self._decoder is not None
        try:
            return self._decoder.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise bad_request(f"the body must be JSON of the right form: {error}") from error

    def _count(self, status: int, seconds: float, scope: Scope, request_id: str) -> None:
        self._latency.observe(seconds)
        answers = self._counts.get(status)
        if answers is None:
            answers = self._service.metrics.requests.labels(self._operation.name, str(status))
            self._counts[status] = answers
        answers.inc()
        if self._service.logs_requests or status >= 500 or seconds > _SLOW:
            say(
                "request",
                request_id=request_id,
                operation=self._operation.name,
                policy=scope["path_params"].get("policy"),
                status=status,
                seconds=round(seconds, 6),
            )


def _header(scope: Scope, wanted: bytes) -> str:
    for name, value in scope["headers"]:
        if name == wanted:
            return str(value.decode("latin-1"))
    return ""


def problem_response(
    problem: Problem, more: Mapping[str, str] | None = None, body: dict[str, Any] | None = None
) -> Response:
    """A problem as a response, with more headers, or another body than RFC 9457's."""
    headers = dict(more or {})
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    if problem.status == 408:  # what still comes of the body is nobody's
        headers["connection"] = "close"
    if problem.retry_after is not None:
        headers["retry-after"] = f"{max(problem.retry_after, 1):.0f}"
    content = msgspec.json.encode(problem.to_dict() if body is None else body)
    media = "application/problem+json" if body is None else JSON
    return Response(content, problem.status, headers, media)
