"""`python -m bench.shared_workers`: what decisions and rewards cost where workers share a store.

One, two and four processes serve one policy from one PostgreSQL, each asked over 32 connections, in
turn.  Processor time of the workers and of all processes of the database is counted apart.  At the
end the decisions and the rewards that one worker wrote are written once more, in the same groups,
to tables of the same form, by one connection and nothing else: raw.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.postgres import Database, cpu_seconds
from bench.service import TASKS, Load, ask, drive, post, settings, started

SERVE = """
import os, sys
from pathlib import Path
from hierbandits.service.serve import serve
place, port = Path(sys.argv[1]), int(sys.argv[2])
serve(place, store=os.environ["HIERBANDITS_STORE"], port=port, shared=True)
"""
CONNECTIONS = 32
"""Of each worker: as many requests wait for it, and go into one group, however many workers."""


class Workers:
    """So many processes that serve one policy of a database."""

    def __init__(self, ports: list[int], pids: list[int], database: Database) -> None:
        self._ports, self._pids, self._database = ports, pids, database

    def cost(
        self, name: str, request: Callable[[], Any], seconds: float
    ) -> tuple[dict[str, float], Load]:
        """The rate and the microseconds of processor time of requests, and what came of them."""
        mine, theirs = self._mine(), self._database.cpu_seconds()
        load = asyncio.run(self._drive(Load(seconds, request)))
        number = sum(map(len, load.times.values()))
        found = {
            f"{name}s / s": number / seconds,
            f"workers, us per {name}": 1e6 * (self._mine() - mine) / number,
            f"database, us per {name}": 1e6 * (self._database.cpu_seconds() - theirs) / number,
            "bad answers": float(load.bad),
        }
        return found, load

    def _mine(self) -> float:
        return sum(map(cpu_seconds, self._pids))

    async def _drive(self, load: Load) -> Load:
        await asyncio.gather(*(drive(port, load, CONNECTIONS) for port in self._ports))
        return load


@contextmanager
def serving(folder: Path, number: int, database: Database) -> Iterator[Workers]:
    """Workers that have decided for all tasks once."""
    os.environ["HIERBANDITS_STORE"] = database.url
    with ExitStack() as stack:
        found = [
            stack.enter_context(started(SERVE, str(folder / f"worker {i}"))) for i in range(number)
        ]
        for port, _ in found:
            ask(port, "PUT", "/policies/shop", settings(50))
            rows = [{"task": f"user-{i}"} for i in range(TASKS)]
            ask(port, "POST", "/policies/shop/rounds", {"decisions": rows})
        yield Workers([port for port, _ in found], [pid for _, pid in found], database)


def costs(workers: Workers, seconds: float) -> dict[str, float]:
    """What decisions and then their rewards cost."""
    count = iter(range(10**12))

    def decide() -> tuple[str, bytes]:
        task = b"user-%d" % (next(count) % TASKS)
        return "decide", post("/policies/shop/decisions", b'{"task": "%b"}' % task)

    found, made = workers.cost("decision", decide, seconds)
    ids = iter(made.ids)

    def reward() -> tuple[str, bytes]:
        path = f"/policies/shop/decisions/{next(ids)}/reward"
        return "reward", post(path, b'{"value": 0.5}')

    # Fewer seconds: each decision is rewarded once, and rewards are quicker.
    more, _ = workers.cost("reward", reward, seconds / 4)
    bad = found["bad answers"] + more["bad answers"]
    return found | more | {"bad answers": bad}


def raw(database: Database) -> dict[str, float]:
    """The rows that workers wrote, once more in the same groups, and nothing else."""
    from hierbandits.service.postgres_rows import columns
    from hierbandits.service.store_url import StoreUrl

    found: dict[str, float] = {}
    with StoreUrl(database.url).connect(synchronous_commit="on") as db:
        for name, table, names, types in (
            ("decision", "shared_decisions", "policy, id, task_key, data, at",
             "%s::bigint[], %s::bytea[], %s::bytea[], %s::bytea[], %s::float8[]"),
            ("reward", "shared_rewards", "policy, id, value, at",
             "%s::bigint[], %s::bytea[], %s::float8[], %s::float8[]"),
        ):  # fmt: skip
            sql = f"SELECT xmin::text, {names} FROM {table} ORDER BY at, xmin::text"
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


def measure(seconds: float, rounds: int, numbers: list[int]) -> dict[int, dict[str, float]]:
    """Medians over rounds, of each number of workers in turn, all on one server."""
    found: dict[int, dict[str, list[float]]] = {number: {} for number in numbers}
    with tempfile.TemporaryDirectory() as text:
        for turn in range(rounds):
            for number in numbers:
                place = Path(text) / f"{turn}-{number}"
                place.mkdir()
                database = Database(place)
                try:
                    with serving(place, number, database) as workers:
                        some = costs(workers, seconds)
                    some |= raw(database)
                finally:
                    database.close()
                for key, value in some.items():
                    found[number].setdefault(key, []).append(value)
    return {
        number: {key: statistics.median(values) for key, values in some.items()}
        for number, some in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    words = parser.parse_args()
    found = measure(words.seconds, words.rounds, words.workers)
    print(f"{'workers':<38}" + "".join(f"{number:>12}" for number in found))
    for key in found[words.workers[0]]:
        print(f"{key:<38}" + "".join(f"{some[key]:>12,.1f}" for some in found.values()))


if __name__ == "__main__":
    main()
