"""The service over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from hierbandits.service import decision_operations, policy_operations
from hierbandits.service.operation import Call, Endpoint, Operation, answer
from hierbandits.service.problem import Problem
from hierbandits.service.service import Service


async def _health(call: Call) -> dict[str, str]:
    return {"status": "alive"}


async def _ready(call: Call) -> dict[str, str]:
    if not call.service.book.is_ready:
        raise Problem(503, "not_ready", "some policies are being loaded", retry_after=1.0)
    return {"status": "ready"}


async def _metrics(call: Call) -> Response:
    return Response(call.service.metrics.text(), media_type=CONTENT_TYPE_LATEST)


OPERATIONS = [
    *decision_operations.OPERATIONS,
    *policy_operations.OPERATIONS,
    Operation("health", "GET", "/health", None, _health, "Whether the process lives."),
    Operation("ready", "GET", "/ready", None, _ready, "Whether all policies are loaded."),
    Operation("metrics", "GET", "/metrics", "read", _metrics, "Metrics for Prometheus."),
]


def service_app(service: Service) -> ASGIApp:
    """The application that serves all operations."""

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    routes = [
        Route(one.path, Endpoint(service, one), methods=[one.method], name=one.name)
        for one in OPERATIONS
    ]
    # A bare router: what goes wrong is answered by the endpoints, not by layers around them.
    return Router(routes, redirect_slashes=False, default=_unknown, lifespan=lifespan)


async def _unknown(scope: Scope, receive: Receive, send: Send) -> None:
    """What no operation serves, in the form of all other problems."""
    if scope["type"] == "http":
        await answer(Problem(404, "not_found", "the path is not known"))(scope, receive, send)
