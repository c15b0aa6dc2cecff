"""`python -m bench.served_staleness`: regret of the running service, by when workers fold.

The worlds are those of `bench.staleness`.  In each, four clients take the next task, let a worker
decide over HTTP, and give the reward to the other worker at once.  Two workers of one PostgreSQL
fold as they do by default, less often, or never; one process that has the store alone, and folds
nothing, is the reference.  All serve the same worlds in turn.
"""

import argparse
import http.client
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.postgres import SERVE as SERVE_ALONE
from bench.postgres import Database
from bench.service import ask, ask_over, started
from bench.staleness import ARM_NAMES, PRIOR, World, table, worlds
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.service.store_url import StoreUrl

CLIENTS = 4
SERVE = """
import os, sys
from pathlib import Path
from hierbandits.service import shared_book, shared_policy
from hierbandits.service.serve import serve
place, refresh, growth, port = sys.argv[1:]
if refresh:
    shared_book.REFRESH = float(refresh)
    shared_book.GROWTH = shared_policy.GROWTH = float(growth)
serve(Path(place), store=os.environ["HIERBANDITS_STORE"], port=int(port), shared=True)
"""
NO_CLOCK = "1e6"  # seconds


@dataclass(frozen=True)
class Way:
    """Who serves, and when it is folded."""

    name: str
    workers: int = 2
    code: str = SERVE
    words: tuple[str, ...] = ()


WAYS = (
    Way("one process alone", 1, SERVE_ALONE),
    Way("a tenth more, or a second", words=("", "")),
    Way("a tenth more", words=(NO_CLOCK, "0.1")),
    Way("half more", words=(NO_CLOCK, "0.5")),
    Way("ten times as many", words=(NO_CLOCK, "9")),
    Way("never", words=(NO_CLOCK, "inf")),
)


class Visit:
    """One world on its way through a service."""

    def __init__(self, world: World, ports: list[int], policy: str) -> None:
        self._world, self._ports, self._path = world, ports, f"/policies/{policy}"
        self._next, self._lock = iter(range(len(world.order))), threading.Lock()
        self.regrets: list[float] = []

    def run(self, rule: str) -> float:
        """The total regret; the policy is there afterwards."""
        prior = model_to_dict(PRIOR)
        settings = {"arms": ARM_NAMES, "prior": prior, "rule": rule, "draws": 0}
        ask(self._ports[0], "PUT", self._path, settings)
        clients = [threading.Thread(target=self._client) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert len(self.regrets) == len(self._world.order), "a client has failed"
        return sum(self.regrets)

    def _client(self) -> None:
        with ExitStack() as stack:
            lines = [
                stack.enter_context(closing(http.client.HTTPConnection("127.0.0.1", port)))
                for port in self._ports
            ]
            while (place := self._taken()) is not None:
                task = int(self._world.order[place])
                decides, learns = (lines[(place + i) % len(lines)] for i in range(2))
                made = ask_over(decides, "POST", f"{self._path}/decisions", {"task": task})
                arm = int(made["arm"])
                path = f"{self._path}/decisions/{made['id']}/reward"
                ask_over(learns, "POST", path, {"value": self._world.reward(place, arm)})
                self.regrets.append(self._world.regret(task, arm))

    def _taken(self) -> int | None:
        with self._lock:
            return next(self._next, None)


def generations(url: str, policy: str) -> int:
    """How often a policy was folded; 0 if it is not shared."""
    sql = (
        "SELECT max(number) - 1 FROM shared_generations JOIN shared_policies "
        "ON policy = id WHERE name = %s"
    )
    with StoreUrl(url).connect() as db:
        ((number,),) = db.execute(sql, (policy,)).fetchall()
    return int(number or 0)


def measure(number: int, rule: str) -> Iterator[tuple[str, float, int, float]]:
    """The way, the regret, the folds and the seconds of each world and way."""
    with tempfile.TemporaryDirectory() as text, ExitStack() as stack:
        database = stack.enter_context(closing(Database(Path(text))))
        os.environ["HIERBANDITS_STORE"] = database.url
        ports = {
            way: [
                stack.enter_context(started(way.code, f"{text}/{way.name} {i}", *way.words))[0]
                for i in range(way.workers)
            ]
            for way in WAYS
        }
        for place, world in enumerate(worlds(number)):
            for way in WAYS:
                policy, start = f"world-{place}-{WAYS.index(way)}", time.perf_counter()
                lost = Visit(world, ports[way], policy).run(rule)
                took = time.perf_counter() - start
                yield way.name, lost, generations(database.url, policy), took
                ask(ports[way][0], "DELETE", f"/policies/{policy}", None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=40)
    parser.add_argument("--rule", default="HierIDS")
    words = parser.parse_args()
    lost, folds, took = ({way.name: list[float]() for way in WAYS} for _ in range(3))
    for name, *values in measure(words.worlds, words.rule):
        for found, value in zip((lost, folds, took), values, strict=True):
            found[name].append(value)
    title, *lines = table(f"{words.rule}, {words.worlds} worlds", lost)
    print(f"{title}{'folds':>8}{'seconds':>9}")
    for name, line in zip(lost, lines, strict=True):
        print(f"{line}{np.mean(folds[name]):>8.1f}{np.median(took[name]):>9.1f}")


if __name__ == "__main__":
    main()
