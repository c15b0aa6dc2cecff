"""`python -m bench.service`: the service under load, as a share of an endpoint that does nothing.

A second process asks over 64 connections.  Both servers run on the same stack (uvicorn, Starlette,
msgspec) and are asked in turn, so that other work on the machine slows both.  "At half" is a load
of half as many decisions and rewards as were answered just before, sent by the clock: a late answer
counts from when its request was due.  A reward is used by all decisions that are asked for after
its answer; so its time is how fresh decisions are.  Beside it stands what the machine alone takes:
requests for nothing at the same rate, and flushes of small writes to the same disk.
"""

import argparse
import asyncio
import http.client
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
        if not self._load.by_clock:  # one after the other: all at once, they would keep in step
            self.ask()

    def ask(self) -> None:
        """Send a request when it is due."""
        self._start = self._load.due()
        wait = self._start - time.perf_counter()
        if wait > 0:
            asyncio.get_running_loop().call_later(wait, self._send)
        else:
            self._send()

    def _send(self) -> None:
        self._kind, request = self._load.next()
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
            self.ask()


class Load:
    """Requests to send, and what came of them."""

    def __init__(
        self, seconds: float, requests: Callable[[], tuple[str, bytes]], rate: float | None = None
    ) -> None:
        self._requests, self._seconds, self._rate = requests, seconds, rate
        self._asked, self.by_clock = 0, rate is not None
        self.begin()
        self.times: dict[str, list[float]] = {}
        self.bad = 0
        self.ids: list[str] = []

    def begin(self) -> None:
        """Let its clock start."""
        self._begun = time.perf_counter()
        self._end = self._begun + self._seconds

    def due(self) -> float:
        """When the next request is to be sent: by the clock if there is a rate, else now."""
        if self._rate is None:
            return time.perf_counter()
        self._asked += 1
        return self._begun + self._asked / self._rate

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

    def percentile(self, share: float, kind: str | None = None) -> float:
        kinds = self.times if kind is None else [kind]
        every = sorted(one for some in kinds for one in self.times[some])
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
    if load.by_clock:
        load.begin()
        for _, connection in made:
            connection.ask()
    while not load.is_over() or any(not transport.is_closing() for transport, _ in made):
        await asyncio.sleep(0.05)
    return load


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def server(code: str, *words: str, core: int | None) -> Iterator[int]:
    with started(code, *words, core=core) as (port, _):
        yield port


@contextmanager
def started(code: str, *words: str, core: int | None = None) -> Iterator[tuple[int, int]]:
    """A server that listens: its port, and the id of its process."""
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
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def flush_times(folder: str, number: int = 1_000) -> list[float]:
    """How long the disk takes to keep 16 kB, by `number` writes one after the other."""
    times = []
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        for _ in range(number):
            file.write(bytes(16_384))
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - start)
    return sorted(times)


def ask(port: int, method: str, path: str, body: Any) -> Any:
    return ask_over(http.client.HTTPConnection("127.0.0.1", port, timeout=120), method, path, body)


def ask_over(one: http.client.HTTPConnection, method: str, path: str, body: Any) -> Any:
    """The answer that comes over a connection, which stays open."""
    one.request(method, path, json.dumps(body))
    answer = one.getresponse()
    text = answer.read()
    assert answer.status in (200, 204), text
    return json.loads(text or b"null")


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
        count, turns = iter(range(10**12)), iter(range(10**12))
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
            ceiling: float | None = None
            for name in ("", " at half"):
                both = Load(seconds, decide, None if ceiling is None else ceiling / 2)

                def decide_and_reward(
                    both: Load = both, waiting: list[str] = waiting
                ) -> tuple[str, bytes]:
                    ids = both.ids or waiting
                    if ids and next(turns) % 2:
                        path = f"/policies/shop/decisions/{ids.pop()}/reward"
                        return "reward", post(path, b'{"value": 0.5}')
                    return decide()

                both._requests = decide_and_reward
                asyncio.run(drive(port, both, CONNECTIONS))
                note(f"decisions and rewards{name} / s", both.per_second())
                if ceiling is None:
                    ceiling = both.per_second()
                    note("decisions and rewards, share of nothing", ceiling / base)
                for kind in both.times:
                    note(f"{kind}{name}, p99 ms", 1e3 * both.percentile(0.99, kind))
                note("bad answers", both.bad)
            assert ceiling is not None
            same = Load(seconds, nothing, ceiling / 2)
            asyncio.run(drive(idle, same, CONNECTIONS))
            note("nothing at that rate, p99 ms", 1e3 * same.percentile(0.99))
            flushes = flush_times(folder)
            note("a flush of the disk, p99 ms", 1e3 * flushes[int(0.99 * len(flushes))])
            note("a flush of the disk, longest ms", 1e3 * flushes[-1])
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
    others = os.sched_getaffinity(0) - {words.core}
    if words.core is not None and others:
        os.sched_setaffinity(0, others)
    for name, value in measure(words.seconds, words.rounds, words.core).items():
        print(f"{name:<45}{value:>12,.2f}")


if __name__ == "__main__":
    main()
