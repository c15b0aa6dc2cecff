"""The service over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hierbandits.service import decision_operations, policy_operations
from hierbandits.service.operation import Call, Endpoint, Operation
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


def service_app(service: Service) -> Starlette:
    """The application that serves all operations."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    routes = [
        Route(one.path, Endpoint(service, one).__call__, methods=[one.method], name=one.name)
        for one in OPERATIONS
    ]
    return Starlette(
        routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _http_problem}
    )


async def _http_problem(request: Request, error: Exception) -> Response:
    """What the router itself refuses, in the form of all other problems."""
    assert isinstance(error, HTTPException)
    problem = Problem(error.status_code, "not_found", f"{request.method} of an unknown path")
    content = msgspec.json.encode(problem.to_dict())
    return Response(content, error.status_code, media_type="application/problem+json")
