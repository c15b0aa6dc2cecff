"""A log of many Parquet files, reduced to sums: memory against rows.

`python -m bench.many_files` writes files of a million rows into a temporary folder, up to a hundred
of them, sums 1, 10 and 100 of them, each in a process of its own, and removes them.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import hierbandits as hb
from hierbandits.logs import Columns

PART_ROWS = 1_000_000
ARMS = 10
COLUMNS = {"task": "user", "arm": "offer", "reward": "paid"}


def write_part(folder: Path, number: int, num_tasks: int, rows: int) -> None:
    """One file: users at random, offers by name, rewards about a mean of their own."""
    rng = np.random.default_rng([number, 17])
    users, offers = rng.integers(num_tasks, size=rows), rng.integers(ARMS, size=rows)
    paid = 0.1 * offers + 0.3 * np.sin(users) + rng.normal(0, 0.5, rows)
    names = pl.Series([f"offer {arm}" for arm in range(ARMS)])
    frame = pl.DataFrame({"user": users, "offer": names[offers], "paid": paid})
    frame.write_parquet(folder / f"part-{number:05}.parquet")


def measured(work: str, files: list[str], backend: str) -> dict[str, float]:
    """One piece of work in this process: its seconds, processor time and most memory."""
    log = hb.Log.read(files, Columns(**COLUMNS))
    start, used = time.perf_counter(), time.process_time()
    if work == "learn":
        _, report = hb.learn_prior(log, runs=0, backend=backend, progress=False)
        rows = report.num_rows
    elif work == "files":
        rows = log.file_sums(backend=backend, progress=False).num_rows
    else:
        rows = log.sums().num_rows
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "rows": rows,
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - used,
        "bytes": peak,
    }


def _apart(work: str, files: list[str], backend: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.many_files", "--work", work, "--backend", backend]
    done = subprocess.run(
        command, input="\n".join(files), capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print a row for each piece of work and number of files."""
    parser = argparse.ArgumentParser(prog="python -m bench.many_files", description=__doc__)
    parser.add_argument("--parts", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--part-rows", type=int, default=PART_ROWS)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--backend", default="local")
    parser.add_argument("--works", nargs="+", default=["files", "sums"])
    parser.add_argument("--work", help=argparse.SUPPRESS)  # what a process of its own does
    options = parser.parse_args()
    if options.work:
        print(json.dumps(measured(options.work, sys.stdin.read().split(), options.backend)))
        return
    print("| work | files | rows | seconds | processor seconds | peak memory of the process |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="many-files-") as folder:
        for number in range(max(options.parts)):
            write_part(Path(folder), number, options.tasks, options.part_rows)
        files = sorted(str(path) for path in Path(folder).iterdir())
        for work in options.works:
            for parts in options.parts:
                found = _apart(work, files[:parts], options.backend)
                peak, used = f"{found['bytes'] / 2**20:,.0f} MiB", f"{found['processor']:.1f}"
                cells = (work, parts, f"{found['rows']:,}", f"{found['seconds']:.1f}", used, peak)
                print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
