"""`python -m bench.shared_page`: what it costs to look at a policy that workers share.

The rows of a policy's decisions and of the rewards of four in five are written to the store as
workers write them, over thirty days.  Then one worker answers what the page asks for.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.postgres import Database
from bench.service import ask, started
from bench.shared_workers import SERVE

ARMS = ["red", "green", "blue"]
DAYS = 30
_TASKS = (
    "INSERT INTO shared_tasks (policy, task_key, task, created) SELECT %(policy)s, "
    "decode(md5(i::text), 'hex'), convert_to('\"task ' || i || '\"', 'UTF8'), %(begin)s + i "
    "FROM generate_series(1, %(tasks)s) AS i"
)
_DECISIONS = (
    "INSERT INTO shared_decisions (policy, id, task_key, data, at) SELECT %(policy)s, "
    "convert_to('made-' || i, 'UTF8'), decode(md5((1 + i %% %(tasks)s)::text), 'hex'), "
    'convert_to(\'{"id":"made-\' || i || \'","task":"task \' || 1 + i %% %(tasks)s || '
    "'\",\"arm\":\"' || (ARRAY['red', 'green', 'blue'])[1 + i %% 3] || "
    '\'","features":\' || i %% 3 || \',"propensity":0.5,"offered":["red","green","blue"],'
    '"time":\' || %(begin)s + i * %(step)s || \',"gap":0.1,"expected":0.5,"expected_std":0.1,'
    "\"policy_version\":1}', 'UTF8'), %(begin)s + i * %(step)s "
    "FROM generate_series(1, %(number)s) AS i"
)
_REWARDS = (
    "INSERT INTO shared_rewards (policy, id, value, at) SELECT %(policy)s, "
    "convert_to('made-' || i, 'UTF8'), i %% 2, %(begin)s + (i + 10) * %(step)s "
    "FROM generate_series(1, %(number)s) AS i WHERE i %% 5 > 0"
)


def fill(database: Database, tasks: int, number: int) -> None:
    """Write the rows of a policy that was created, and has none."""
    import psycopg

    seconds = DAYS * 86_400
    with psycopg.connect(database.url, options="-c search_path=hierbandits") as db:
        ((policy,),) = db.execute("SELECT id FROM shared_policies").fetchall()
        given = {"policy": policy, "tasks": tasks, "number": number}
        given |= {"begin": time.time() - seconds - 3600, "step": seconds / number}
        for sql in (_TASKS, _DECISIONS, _REWARDS):
            db.execute(sql, given)
    with psycopg.connect(database.url, autocommit=True) as db:
        db.execute("VACUUM ANALYZE")


def timed(name: str, make: Callable[[], Any]) -> Any:
    """What is made, and a line of how long that took: the first time, and the second."""
    seconds, made = [], None
    for _ in range(2):
        begin = time.perf_counter()
        made = make()
        seconds.append(f"{time.perf_counter() - begin:.3f} s")
    print(f"{name:24} {seconds[0]}, then {seconds[1]}", flush=True)
    return made


def listing(sort: str) -> str:
    """What the page asks for to show the first tasks in an order."""
    return f"/tasks?detail=true&limit=25&sort={sort}"


def look(port: int) -> None:
    """Ask for what the page shows."""

    def get(path: str) -> Any:
        return ask(port, "GET", f"/policies/shop{path}", None)

    begin, looks = time.perf_counter(), 1
    while get("/history")["counted_to"] is not None:
        looks += 1
    print(f"{'history, counted anew':24} {time.perf_counter() - begin:.1f} s in {looks} looks")
    timed("history", lambda: get("/history"))
    counts = timed("counts", lambda: get(""))
    timed("latest decisions", lambda: get("/recent?limit=50"))
    timed("population", lambda: get("/population"))
    for sort in ("oldest", "newest", "decisions"):
        timed(f"tasks, {sort}", partial(get, listing(sort)))
    timed("tasks, a search", lambda: get("/tasks?detail=true&limit=25&search=17"))
    print(json.dumps({name: counts[name] for name in ("tasks", "events", "rewards")}))


def main() -> None:
    """Print a line for each question."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--decisions", type=int, default=3_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = Database(folder)
        os.environ["HIERBANDITS_STORE"] = database.url
        try:
            with started(SERVE, str(folder / "worker")) as (port, _):
                ask(port, "PUT", "/policies/shop", {"arms": ARMS, "draws": 50})
                fill(database, given.tasks, given.decisions)
                look(port)
            with started(SERVE, str(folder / "other")) as (port, _):
                print("another worker, which finds what is kept:")
                look(port)
        finally:
            database.close()


if __name__ == "__main__":
    main()
