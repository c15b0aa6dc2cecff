"""The service over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from hierbandits.service import (
    archive_operations,
    dashboard_operations,
    decision_operations,
    evaluation_operations,
    ofrep_operations,
    policy_operations,
    promotion_operations,
    rollout_operations,
)
from hierbandits.service.api_page import api_page
from hierbandits.service.api_problem import Problem
from hierbandits.service.openapi import openapi_document
from hierbandits.service.operation import Call, Endpoint, Operation, problem_response
from hierbandits.service.service import Service

if TYPE_CHECKING:
    from hierbandits.service.shared_service import SharedService


async def _health(call: Call) -> dict[str, str]:
    return {"status": "alive"}


async def _ready(call: Call) -> dict[str, str]:
    reason = await call.host.not_ready()
    if reason is not None:
        raise Problem(503, "not_ready", reason, retry_after=1.0)
    return {"status": "ready"}


async def _metrics(call: Call) -> Response:
    if call.token is not None and call.token.policies is not None:
        raise Problem(403, "forbidden", "the token must be good for all policies")
    return Response(await call.host.metrics_text(), media_type=CONTENT_TYPE_LATEST)


async def _openapi(call: Call) -> dict[str, Any]:
    return api_document()


async def _docs(call: Call) -> Response:
    return Response(_page(), media_type="text/html")


@cache
def _page() -> str:
    return api_page(api_document())


OPERATIONS = [
    *decision_operations.OPERATIONS,
    *policy_operations.OPERATIONS,
    *evaluation_operations.OPERATIONS,
    *rollout_operations.OPERATIONS,
    *promotion_operations.OPERATIONS,
    *archive_operations.OPERATIONS,
    *ofrep_operations.OPERATIONS,
    *dashboard_operations.OPERATIONS,
    Operation(
        "health", "GET", "/health", None, _health,
        "Whether the process lives.", None, dict[str, str],
    ),
    Operation(
        "ready", "GET", "/ready", None, _ready,
        "Whether all policies are loaded.", None, dict[str, str],
    ),
    Operation(
        "metrics", "GET", "/metrics", "read", _metrics,
        "Metrics for Prometheus, of all policies.", None, str, media=CONTENT_TYPE_LATEST,
    ),
    Operation(
        "openapi", "GET", "/openapi.json", None, _openapi,
        "This API as an OpenAPI document.", None, dict[str, Any],
    ),
    Operation(
        "docs", "GET", "/docs", None, _docs,
        "This API as a page to read.", None, str, media="text/html; charset=utf-8",
    ),
]  # fmt: skip


@cache
def api_document() -> dict[str, Any]:
    """The OpenAPI document of all operations."""
    return openapi_document(OPERATIONS)


def service_app(
    service: "Service | SharedService",
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> Router:
    """The application that serves all operations; `beside` runs as long as it does."""

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        await service.start()
        companion = None if beside is None else asyncio.ensure_future(beside())
        try:
            yield
        finally:
            if companion is not None:
                companion.cancel()
                await asyncio.gather(companion, return_exceptions=True)
            await service.stop()

    paths: dict[str, dict[str, Endpoint]] = {}
    for one in [*OPERATIONS, *dashboard_operations.PAGES]:
        handler = service.own_handlers.get(one.name, one.handler)
        own = one if handler is one.handler else replace(one, handler=handler)
        paths.setdefault(one.path, {})[one.method] = Endpoint(service, own)
    # Paths that end in a name would else take those that go on after it.
    ordered = sorted(paths, key=lambda path: path.endswith("}"))
    routes = [Route(path, Methods(paths[path])) for path in ordered]
    # A bare router: what goes wrong is answered by the endpoints, not by layers around them.
    return Router(routes, redirect_slashes=False, default=_unknown, lifespan=lifespan)


class Methods:
    """All operations of one path."""

    def __init__(self, served: Mapping[str, Endpoint]) -> None:
        self._served = dict(served)
        if "GET" in served:
            self._served["HEAD"] = served["GET"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the method of a request."""
        endpoint = self._served.get(scope["method"])
        if endpoint is not None:
            await endpoint(scope, receive, send)
            return
        detail = f"{scope['method']} must be a method of this path: see /openapi.json"
        allowed = {"allow": ", ".join(sorted(self._served))}
        response = problem_response(Problem(405, "method_not_allowed", detail), allowed)
        await response(scope, receive, send)


async def _unknown(scope: Scope, receive: Receive, send: Send) -> None:
    """What no operation serves, in the form of all other problems."""
    if scope["type"] == "http":
        problem = Problem(404, "not_found", f"{scope['method']} of an unknown path")
        await problem_response(problem)(scope, receive, send)
