"""Runs the service until it is told to stop."""

import gc
import socket
import sys
import time
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from hierbandits.service.data_place import DataPlace
from hierbandits.service.demo_shop import DemoClock, DemoShop, claim_folder
from hierbandits.service.http_protocol import HttpProtocol
from hierbandits.service.json_log import log_to
from hierbandits.service.service import Service
from hierbandits.service.service_app import service_app

if TYPE_CHECKING:
    from hierbandits.service.shared_service import SharedService

_SWITCH = 0.00002
"""Seconds after which a thread that computes lets others in: the one that stores must not wait."""

_COLLECTED = 5_000, 200, 50
"""When Python looks for garbage in circles, of which there is little: at 5,000 new objects, which
takes a millisecond, and rarely at those that live on.  A round of decisions makes many of these,
and a look at them all takes as long as tens of requests."""


def serve(
    folder: Path,
    *,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    logs_requests: bool = False,
    logs_evaluations: bool = False,
    demo: bool = False,
    shared: bool = False,
) -> None:
    """Serve a data folder, or the PostgreSQL database whose address `store` is.

    If another process serves the store, this one waits, and takes over when that one ends.  With
    `shared` it does not: any number of processes serve the policies that they share in the store.

    On a loopback address without any token, everybody on the machine may ask everything.  Other
    addresses need tokens.  `logs_evaluations` writes OpenTelemetry's event
    `feature_flag.evaluation` of each decision, which names the task, to the log.  `demo` lets a
    simulated shop use the service.
    """
    log_to()
    folder.mkdir(parents=True, exist_ok=True)
    tokens = DataPlace(folder, store).tokens()
    tokens.close()
    if len(tokens) == 0 and not is_loopback(host):
        raise ValueError(
            f"host must be a loopback address while there are no tokens, got {host!r}: make one "
            "with `hierbandits token create`"
        )
    clock = DemoClock()
    if demo:
        claim_folder(folder)
    service: Service | SharedService
    beside = None
    if shared:
        service = _shared(folder, store, logs_requests, logs_evaluations)
    else:
        service = Service(
            folder, store=store, waits=True, needs_tokens=None, logs_requests=logs_requests,
            logs_evaluations=logs_evaluations, clock=clock if demo else time.time,
        )  # fmt: skip
        beside = DemoShop(service, clock).run if demo else None
    service.needs_tokens = len(service.tokens) > 0 or not is_loopback(host)
    config = uvicorn.Config(
        service_app(service, beside), host=host, port=port, access_log=False, log_config=None,
        http=HttpProtocol, ws="none", timeout_graceful_shutdown=30, server_header=False,
        proxy_headers=False,
    )  # fmt: skip
    sys.setswitchinterval(_SWITCH)
    gc.set_threshold(*_COLLECTED)
    uvicorn.Server(config).run()


def _shared(
    folder: Path, store: str | None, logs_requests: bool, logs_evaluations: bool
) -> "SharedService":
    """A worker of a store."""
    from hierbandits.service.shared_service import SharedService

    if store is None:
        raise ValueError("store must be given with shared: the database that workers share")
    return SharedService(
        folder, store, needs_tokens=None, logs_requests=logs_requests,
        logs_evaluations=logs_evaluations,
    )  # fmt: skip


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except socket.gaierror:
        return False
    return all(ip_address(str(address)).is_loopback for address in addresses)
