"""`python -m bench.shared_workers`: what decisions and rewards cost where workers share a store.

One, two and four processes serve one policy from one PostgreSQL, each asked over 32 connections, in
turn.  Processor time of the workers and of all processes of the database is counted apart.  At the
end the decisions and the rewards that one worker wrote are written once more, in the same groups,
to tables of the same form, by one connection and nothing else: raw.  Rewards are Gaussian, or
clicks, with each of which its site is stored.  All numbers of workers are given as many rewards:
those of features are matched again as a task's double, so what one costs depends on how many came
before.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import groupby, product
from math import inf
from pathlib import Path
from typing import Any

from bench.postgres import Database
from bench.processor_time import cpu_seconds
from bench.service import DIM, TASKS, Load, ask, drive, post, settings, started

SERVE = """
import os, sys
from pathlib import Path
from hierbandits.service.serve import serve
place, port = Path(sys.argv[1]), int(sys.argv[2])
serve(place, store=os.environ["HIERBANDITS_STORE"], port=port, shared=True)
"""
CONNECTIONS = 32
"""Of each worker: as many requests wait for it, and go into one group, however many workers."""

KINDS = ("gaussian", "clicks")
REWARDS = 16 * TASKS


class SomeLoad(Load):
    """So many requests, or as many as can be sent in the time."""

    def __init__(self, seconds: float, requests: Callable[[], Any], most: float = inf) -> None:
        super().__init__(seconds, requests)
        self._left = most

    def next(self) -> tuple[str, bytes]:
        self._left -= 1
        return super().next()

    def is_over(self) -> bool:
        return self._left <= 0 or super().is_over()

    def answered(self, kind: str, status: bytes, body: bytes, seconds: float) -> None:
        super().answered(kind, status, body, seconds)
        self.took = time.perf_counter() - self._begun


def policy(kind: str) -> dict[str, Any]:
    """The settings of a policy whose rewards are Gaussian or clicks."""
    from hierbandits import GaussianHierarchy, GeneralizedHierarchy
    from hierbandits.beliefs.model_kinds import model_to_dict

    if kind == "gaussian":
        return settings(50)
    prior = GaussianHierarchy.linear(DIM, hyper_std=1.0, task_std=0.5, noise_std=1.0)
    return settings(50) | {"prior": model_to_dict(GeneralizedHierarchy(prior, "bernoulli"))}


class Workers:
    """So many processes that serve one policy of a database."""

    def __init__(self, ports: list[int], pids: list[int], database: Database) -> None:
        self._ports, self._pids, self._database = ports, pids, database

    def cost(self, name: str, load: SomeLoad) -> dict[str, float]:
        """The rate and the microseconds of processor time of requests."""
        mine, theirs = self._mine(), self._database.cpu_seconds()
        load.begin()
        asyncio.run(self._drive(load))
        number = sum(map(len, load.times.values()))
        return {
            f"{name}s / s": number / load.took,
            f"workers, us per {name}": 1e6 * (self._mine() - mine) / number,
            f"database, us per {name}": 1e6 * (self._database.cpu_seconds() - theirs) / number,
            "bad answers": float(load.bad),
        }

    def _mine(self) -> float:
        return sum(map(cpu_seconds, self._pids))

    async def _drive(self, load: Load) -> None:
        await asyncio.gather(*(drive(port, load, CONNECTIONS) for port in self._ports))


@contextmanager
def serving(folder: Path, kind: str, number: int, database: Database) -> Iterator[Workers]:
    """Workers that have decided for all tasks once."""
    os.environ["HIERBANDITS_STORE"] = database.url
    with ExitStack() as stack:
        found = [
            stack.enter_context(started(SERVE, str(folder / f"worker {i}"))) for i in range(number)
        ]
        for port, _ in found:
            ask(port, "PUT", "/policies/shop", policy(kind))
            rows = [{"task": f"user-{i}"} for i in range(TASKS)]
            ask(port, "POST", "/policies/shop/rounds", {"decisions": rows})
        yield Workers([port for port, _ in found], [pid for _, pid in found], database)


def costs(workers: Workers, kind: str, seconds: float) -> dict[str, float]:
    """What decisions and then their rewards cost."""
    count = iter(range(10**12))

    def decide() -> tuple[str, bytes]:
        task = b"user-%d" % (next(count) % TASKS)
        return "decide", post("/policies/shop/decisions", b'{"task": "%b"}' % task)

    made = SomeLoad(seconds, decide)
    found = workers.cost("decision", made)
    ids = iter(enumerate(made.ids))

    def reward() -> tuple[str, bytes]:
        number, id = next(ids)
        value = b"0.5" if kind == "gaussian" else b"%d" % (number % 3 == 0)
        return "reward", post(f"/policies/shop/decisions/{id}/reward", b'{"value": %b}' % value)

    more = workers.cost("reward", SomeLoad(60.0, reward, min(REWARDS, len(made.ids))))
    bad = found["bad answers"] + more["bad answers"]
    return found | more | {"bad answers": bad}


def raw(database: Database) -> dict[str, float]:
    """The rows that workers wrote, once more in the same groups, and nothing else."""
    from hierbandits.service.postgres_rows import columns
    from hierbandits.service.store_url import StoreUrl

    found: dict[str, float] = {}
    with StoreUrl(database.url).connect(synchronous_commit="on") as db:
        # All rewards of a transaction have one time; their rows may have been matched again since.
        for name, table, together, names, types in (
            ("decision", "shared_decisions", "xmin::text", "policy, id, task_key, data, at",
             "%s::bigint[], %s::bytea[], %s::bytea[], %s::bytea[], %s::float8[]"),
            ("reward", "shared_rewards", "at",
             "policy, id, value, at, site_precision, site_weighted",
             "%s::bigint[], %s::bytea[], %s::float8[], %s::float8[], %s::float8[], %s::float8[]"),
        ):  # fmt: skip
            sql = f"SELECT {together}, {names} FROM {table} ORDER BY at, {together}"
            rows = db.execute(sql, binary=True).fetchall()
            groups = [[row[1:] for row in some] for _, some in groupby(rows, lambda row: row[0])]
            db.execute(f"CREATE TABLE raw_rows (LIKE {table} INCLUDING ALL)")
            insert = f"INSERT INTO raw_rows ({names}) SELECT * FROM unnest({types})"
            cpu, start = database.cpu_seconds(), time.perf_counter()
            for some in groups:
                db.execute(insert, columns(some, 0))  # a transaction of its own
            took = time.perf_counter() - start
            found |= {
                f"{name}s per transaction": len(rows) / len(groups),
                f"raw {name}s / s": len(rows) / took,
                f"raw transactions of {name}s / s": len(groups) / took,
                f"raw, database, us per {name}": 1e6 * (database.cpu_seconds() - cpu) / len(rows),
            }
            db.execute("DROP TABLE raw_rows")
    return found


def measure(
    seconds: float, rounds: int, kinds: list[str], numbers: list[int]
) -> dict[tuple[str, int], dict[str, float]]:
    """Medians over rounds, of each kind of rewards and number of workers in turn."""
    found: dict[tuple[str, int], dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as text:
        for turn, number, kind in product(range(rounds), numbers, kinds):
            place = Path(text) / f"{turn}-{number}-{kind}"
            place.mkdir()
            database = Database(place)
            try:
                with serving(place, kind, number, database) as workers:
                    some = costs(workers, kind, seconds)
                some |= raw(database)
            finally:
                database.close()
            for key, value in some.items():
                found.setdefault((kind, number), {}).setdefault(key, []).append(value)
    return {
        which: {key: statistics.median(values) for key, values in some.items()}
        for which, some in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rewards", choices=KINDS, nargs="+", default=["gaussian"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    words = parser.parse_args()
    found = measure(words.seconds, words.rounds, words.rewards, words.workers)
    heads = (f"{kind} {number}" for kind, number in found)
    print(f"{'rewards, workers':<38}" + "".join(f"{head:>12}" for head in heads))
    for key in next(iter(found.values())):
        print(f"{key:<38}" + "".join(f"{some[key]:>12,.1f}" for some in found.values()))


if __name__ == "__main__":
    main()
