"""Hostile use of a running service: odd requests, other tenants' tokens, too many clients."""

import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx
from support.hostile_requests import SETTINGS, Answers, send_odd_requests
from support.local_services import LocalService
from support.servers import Server
from support.tenant_probes import Tenants

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance"
CHECKS += ",response_schema_conformance"
LEAST_PROBES = 10_000


def main(seconds):
    """A third of the time for odd requests, the rest for schemathesis, tenants and overload."""
    with tempfile.TemporaryDirectory() as folder:
        counts = _odd_requests(Path(folder) / "odd", seconds / 3)
        counts |= _tenants(Path(folder) / "tenants", seconds / 6)
        with Server(Path(folder) / "data") as server:
            counts |= _schemathesis(server, Path(folder), seconds / 3)
            counts |= _overload(server, seconds / 6)
    return counts


def _odd_requests(folder, seconds):
    """Requests of every form, in one process with the service."""
    answers, seed, end = Answers(), time.time_ns(), time.monotonic() + seconds
    rng = random.Random(seed)
    with LocalService(folder) as local:
        for name, body in zip(("shop", "linear", "plain", "deep", "watch"), SETTINGS, strict=True):
            local.request("PUT", f"/policies/{name}", json=body)

        def send(method, path, body):
            return local.request(method, path, content=body)

        while time.monotonic() < end:
            try:
                send_odd_requests(send, rng, answers, 100)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from error
    counts = {f"odd requests answered {k}": v for k, v in sorted(answers.statuses.items())}
    counts["microseconds within which 50 % of refusals came"] = int(1000 * answers.percentile(0.5))
    counts["microseconds within which 99 % of refusals came"] = int(1000 * answers.percentile(0.99))
    return counts


def _tenants(folder, seconds):
    """Probes with other tenants' tokens."""
    rng, probes, end = random.Random(0), 0, time.monotonic() + seconds
    with LocalService(folder, needs_tokens=True) as local:
        tenants = Tenants(
            lambda method, path, body, token: local.request(method, path, token, content=body),
            lambda name, scopes, policies: local.service.tokens.create(name, scopes, policies, 0.0),
        )
        while probes < LEAST_PROBES or time.monotonic() < end:
            probes += tenants.probe(rng)
            if rng.random() < 0.05:
                probes += tenants.probe_own(rng)
    return {"cross-token probes without a leak": probes}


def _schemathesis(server, folder, seconds):
    """Whatever schemathesis makes of the OpenAPI document."""
    server.client().put("/policies/shop", json={"arms": ["red", "blue"]}).raise_for_status()
    words = ["run", f"{server.url}/openapi.json", "--phases", "coverage,fuzzing,stateful"]
    words += ["--max-examples", "100000", "--no-shrink", "--warnings", "off", "--checks", CHECKS]
    words += ["--max-time", f"{seconds:.0f}", "--exclude-path", "/docs"]
    done = subprocess.run(
        [SCHEMATHESIS, *words], capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1000:]
    assert server.client().get("/health").status_code == 200
    (line,) = [line for line in done.stdout.splitlines() if " generated" in line]
    return {"cases of schemathesis": int(line.split()[0].replace(",", ""))}


def _overload(server, seconds):
    """As many clients at once as the service lets wait, and more: refused aloud, or stored."""
    client = server.client()
    client.put("/policies/crowd", json={"arms": ["x", "y"]}).raise_for_status()
    before, statuses = _resident(server), asyncio.run(_crowd(server.url, seconds))
    assert set(statuses) <= {200, 429, 503}, statuses
    pending = client.get("/policies/crowd").json()["pending"]
    assert pending == statuses[200], (pending, statuses)
    grown = _resident(server) - before
    assert grown < 500 << 20, grown
    counts = {f"requests of a crowd answered {k}": v for k, v in sorted(statuses.items())}
    return counts | {"kilobytes of memory more after the crowd": grown >> 10}


async def _crowd(url, seconds, clients=600):
    """So many clients that ask as fast as they can."""
    statuses, end = Counter(), time.monotonic() + seconds
    limits = httpx.Limits(max_connections=clients)
    body = {"task": "t"}
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=120, trust_env=False) as web:

        async def go_on():
            while time.monotonic() < end:
                reply = await web.post("/policies/crowd/decisions", json=body)
                statuses[reply.status_code] += 1
                if reply.status_code != 200:
                    assert reply.headers["retry-after"], reply.text

        await asyncio.gather(*(go_on() for _ in range(clients)))
    return statuses


def _resident(server):
    """The bytes of memory that the server holds."""
    return int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * 4096
