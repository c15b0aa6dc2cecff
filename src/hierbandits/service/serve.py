"""Runs the service until it is told to stop."""

import socket
import sys
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from hierbandits.service.http_protocol import HttpProtocol
from hierbandits.service.json_log import log_to
from hierbandits.service.service import Service
from hierbandits.service.service_app import service_app
from hierbandits.service.token_file import TokenFile

_SWITCH = 0.0005
"""Seconds after which a thread that computes lets others in: the one that stores must not wait."""


def serve(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    logs_requests: bool = False,
    logs_evaluations: bool = False,
) -> None:
    """Serve a data folder.

    On a loopback address without any token, everybody on the machine may ask everything.  Other
    addresses need tokens.  `logs_evaluations` writes OpenTelemetry's event
    `feature_flag.evaluation` of each decision, which names the task, to the log.
    """
    if len(TokenFile(folder / "tokens.json")) == 0 and not is_loopback(host):
        raise ValueError(
            f"host must be a loopback address while there are no tokens, got {host!r}: make one "
            "with `hierbandits token create`"
        )
    service = Service(
        folder, needs_tokens=None, logs_requests=logs_requests, logs_evaluations=logs_evaluations
    )
    service.needs_tokens = len(service.tokens) > 0 or not is_loopback(host)
    log_to()
    config = uvicorn.Config(
        service_app(service), host=host, port=port, access_log=False, log_config=None,
        http=HttpProtocol, ws="none", timeout_graceful_shutdown=30, server_header=False,
        proxy_headers=False,
    )  # fmt: skip
    sys.setswitchinterval(_SWITCH)
    uvicorn.Server(config).run()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except socket.gaierror:
        return False
    return all(ip_address(str(address)).is_loopback for address in addresses)
