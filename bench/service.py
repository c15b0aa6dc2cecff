"""`python -m bench.service`: the service under load, as a share of an endpoint that does nothing.

A second process asks over 64 connections.  Both servers run on the same stack (uvicorn, Starlette,
msgspec) and are asked in turn, so that other work on the machine slows both.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

CONNECTIONS = 64
DIM, ARMS, TASKS = 8, 10, 1000
ROUND = 1000

SERVE = """
import sys
from pathlib import Path
from hierbandits.service.serve import serve
serve(Path(sys.argv[1]), port=int(sys.argv[2]))
"""
NOTHING = """
import sys
import msgspec, uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

async def nothing(request: Request) -> Response:
    msgspec.json.decode(await request.body())
    return Response(msgspec.json.encode({"id": "x"}), media_type="application/json")

app = Starlette(routes=[Route("/nothing", nothing, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning")
"""


class Connection(asyncio.Protocol):
    """One connection that asks, waits for the answer, and asks again."""

    def __init__(self, load: "Load") -> None:
        self._load, self._data = load, b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        self._kind, request = self._load.next()
        self._start = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, body = self._data.partition(b"\r\n\r\n")
        if not found:
            return
        place = head.lower().index(b"content-length:") + 15
        length = int(head[place:].split(b"\r\n", 1)[0])
        if len(body) < length:
            return
        self._data = b""
        self._load.answered(self._kind, head[9:12], body, time.perf_counter() - self._start)
        if self._load.is_over():
            self._transport.close()
        else:
            self._ask()


class Load:
    """Requests to send, and what came of them."""

    def __init__(self, seconds: float, requests: Callable[[], tuple[str, bytes]]) -> None:
        self._requests, self._seconds = requests, seconds
        self._end = time.perf_counter() + seconds
        self.times: dict[str, list[float]] = {}
        self.bad = 0
        self.ids: list[str] = []

    def next(self) -> tuple[str, bytes]:
        return self._requests()

    def answered(self, kind: str, status: bytes, body: bytes, seconds: float) -> None:
        if status != b"200":
            self.bad += 1
            return
        self.times.setdefault(kind, []).append(seconds)
        if kind == "decide":
            self.ids.append(json.loads(body)["id"])

    def is_over(self) -> bool:
        return time.perf_counter() >= self._end

    def per_second(self) -> float:
        return sum(map(len, self.times.values())) / self._seconds

    def percentile(self, share: float) -> float:
        every = sorted(one for some in self.times.values() for one in some)
        return every[min(int(share * len(every)), len(every) - 1)]


def post(path: str, body: bytes, method: str = "POST") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def drive(port: int, load: Load, connections: int) -> Load:
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(lambda: Connection(load), "127.0.0.1", port)
        for _ in range(connections)
    ]
    while not load.is_over() or any(not transport.is_closing() for transport, _ in made):
        await asyncio.sleep(0.05)
    return load


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def server(code: str, *words: str, core: int | None) -> Iterator[int]:
    port = free_port()
    pin = ["taskset", "-c", str(core)] if core is not None else []
    process = subprocess.Popen([*pin, sys.executable, "-c", code, *words, str(port)],
                               stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        for _ in range(600):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def ask(port: int, method: str, path: str, body: Any) -> Any:
    import http.client

    one = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    one.request(method, path, json.dumps(body))
    answer = one.getresponse()
    text = answer.read()
    assert answer.status == 200, text
    return json.loads(text)


def settings(draws: int) -> dict[str, Any]:
    """A linear policy of d = 8 with ten arms of its own, and a known prior."""
    import numpy as np

    from hierbandits import GaussianHierarchy
    from hierbandits.beliefs.model_kinds import model_to_dict

    rng = np.random.default_rng(0)
    prior = GaussianHierarchy.linear(DIM, hyper_std=1.0, task_std=0.5, noise_std=0.5)
    arms = {f"arm{i}": rng.normal(size=DIM).round(6).tolist() for i in range(ARMS)}
    return {"prior": model_to_dict(prior), "arms": arms, "draws": draws}


def measure(seconds: float, rounds: int, core: int | None) -> dict[str, float]:
    """Rates and times of all kinds of load, medians over rounds."""
    found: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    with (
        tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder,
        server(NOTHING, core=core) as idle,
        server(SERVE, folder, core=core) as port,
    ):
        for name, draws in (("shop", 50), ("plain", 0)):
            ask(port, "PUT", f"/policies/{name}", settings(draws))
        tasks = [f"user-{i}" for i in range(TASKS)]
        body = {"decisions": [{"task": task} for task in tasks]}
        ask(port, "POST", "/policies/shop/rounds", body)
        whole = json.dumps(body).encode()
        count = iter(range(10**12))
        waiting: list[str] = []

        def nothing() -> tuple[str, bytes]:
            return "nothing", post("/nothing", b'{"task": "user-17"}')

        def decide() -> tuple[str, bytes]:
            task = tasks[next(count) % TASKS]
            return "decide", post("/policies/shop/decisions", b'{"task": "%b"}' % task.encode())

        for _ in range(rounds):
            base = asyncio.run(drive(idle, Load(seconds, nothing), CONNECTIONS)).per_second()
            load = asyncio.run(drive(port, Load(seconds, decide), CONNECTIONS))
            note("nothing / s", base)
            note("decisions / s", load.per_second())
            note("decisions, share of nothing", load.per_second() / base)
            note("decisions, p50 ms", 1e3 * load.percentile(0.5))
            note("decisions, p99 ms", 1e3 * load.percentile(0.99))
            note("bad answers", load.bad)
            waiting += load.ids
            both = Load(seconds, decide)

            def decide_and_reward(
                both: Load = both, waiting: list[str] = waiting
            ) -> tuple[str, bytes]:
                ids = both.ids or waiting
                if ids and next(count) % 2:
                    path = f"/policies/shop/decisions/{ids.pop()}/reward"
                    return "reward", post(path, b'{"value": 0.5}')
                return decide()

            both._requests = decide_and_reward
            asyncio.run(drive(port, both, CONNECTIONS))
            note("decisions and rewards / s", both.per_second())
            note("decisions and rewards, share of nothing", both.per_second() / base)
            note("bad answers", both.bad)
            half = CONNECTIONS // 16
            calm = asyncio.run(drive(port, Load(seconds, decide), half))
            note("calm decisions / s", calm.per_second())
            note("calm decisions, p99 ms", 1e3 * calm.percentile(0.99))
            many = Load(seconds, lambda: ("round", post("/policies/plain/rounds", whole)))
            asyncio.run(drive(port, many, 2))
            note("decisions in rounds / s", many.per_second() * ROUND)
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--core", type=int, default=None, help="the core of both servers")
    words = parser.parse_args()
    for name, value in measure(words.seconds, words.rounds, words.core).items():
        print(f"{name:<45}{value:>12,.2f}")


if __name__ == "__main__":
    main()
