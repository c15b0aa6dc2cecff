"""A prior learned from a log of millions of rows: time and memory of the process that does it."""

import json
import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from hierbandits.types import Vector

CORES = 2
_CHUNK = 1_000_000
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
_CHILD = f"""
import json, os, sys, time
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{CORES}])
start = time.perf_counter()
from bench.learning import learn, peak_gigabytes
error = learn(sys.argv[1])
print(json.dumps([time.perf_counter() - start, peak_gigabytes(), error]))
"""


@dataclass(frozen=True, slots=True)
class LearningCost:
    """What learning a prior from a Parquet file took, imports and compiled kernels included."""

    rows: int
    num_tasks: int
    dim: int
    file_gigabytes: float
    seconds: float
    peak_gigabytes: float
    error: float  # the largest relative error of the learned widths


def learning_cost(rows: int, num_tasks: int, dim: int) -> LearningCost:
    """Write a log, then learn from it in a process that has two cores."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        _write(path, rows, num_tasks, dim)
        size = path.stat().st_size / 1e9
        threads = dict.fromkeys(_THREADS, str(CORES))
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, str(path)],
            env=os.environ | threads,
            check=True,
            capture_output=True,
            text=True,
        )
    seconds, peak, error = json.loads(done.stdout)
    return LearningCost(rows, num_tasks, dim, size, seconds, peak, error)


def learn(path: str) -> float:
    """The prior of a log's file, covariances full, and its report; how wrong its widths are."""
    import polars as pl

    import hierbandits as hb

    names = [name for name in pl.read_parquet_schema(path) if name.startswith("x")]
    prior, _ = hb.learn_prior(
        path, task="task", features=names, reward="reward", structure="full", progress=False
    )
    truth = np.append(_task_stds(len(names)), 1.0)
    learned = np.append(np.sqrt(np.diagonal(prior.task_cov)), prior.noise_std)
    return float(np.abs(learned / truth - 1).max())


def peak_gigabytes() -> float:
    """The most memory that this process has held since it began.

    Linux counts what its parent held in getrusage's figure, but not in this one.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e9


def _write(path: Path, rows: int, num_tasks: int, dim: int) -> None:
    """A log drawn from a hierarchy with diagonal covariance and noise one, chunk by chunk."""
    import polars as pl

    rng = np.random.default_rng(0)
    theta = 1.0 + _task_stds(dim) * rng.standard_normal((num_tasks, dim))
    parts = []
    for start in range(0, rows, _CHUNK):
        size = min(_CHUNK, rows - start)
        tasks = rng.integers(0, num_tasks, size)
        x = rng.standard_normal((size, dim))
        y = (x * theta[tasks]).sum(1) + rng.standard_normal(size)
        columns = {"task": tasks} | {f"x{j}": x[:, j] for j in range(dim)} | {"reward": y}
        parts.append(path.with_suffix(f".{start}.part"))
        pl.DataFrame(columns).write_parquet(parts[-1])
    pl.scan_parquet(parts).sink_parquet(path)
    for part in parts:
        part.unlink()


def _task_stds(dim: int) -> Vector:
    return np.linspace(0.1, 0.8, dim)


if __name__ == "__main__":
    print(learning_cost(rows=10_000_000, num_tasks=10_000, dim=8))
