"""What a back end costs: one study in this machine's processes, on Ray, on Dask and on Spark.

`python -m bench.clusters` simulates the same study on each, with two workers that are started and
warm.  It prints the wall time, what the workers spent in chunks, and what is left: overhead, and
waiting for the last chunk.  Chunks are slower where something else takes the processors, so it
prints the processor time too: of the workers, of this process, and of all other processes that
the back end has started here (Ray's raylet and GCS, Spark's JVM), and all of them over those of
the local back end.  Dask's scheduler is in this process.  With `--rounds`, the back ends take
turns, and ratios are of the sums, with those of each round.  Linux only.
"""

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hierbandits as hb
from bench.processor_time import cpu_seconds, family
from hierbandits.experiments.experiment import paper_problem
from hierbandits.simulation.schedules import Federated

WORKERS = 2
POLICIES = ("HierTS", "TS")
MARKS = {"local": "popen_loky", "ray": "ray::", "dask": "spawn_main", "spark": "pyspark.daemon"}
"""What the command lines of a back end's workers contain."""


@contextmanager
def cluster(backend: str) -> Iterator[None]:
    """Two workers of a back end; those of the local one start with the work."""
    if backend == "ray":
        import ray

        ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()
    elif backend == "dask":
        from hierbandits.workers.dask_engine import started

        with started(n_workers=WORKERS, dashboard_address=None):
            yield
    elif backend == "spark":
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(f"local[{WORKERS},4]")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        session = builder.config("spark.ui.enabled", "false").getOrCreate()
        yield
        session.stop()
    else:
        yield


def study(backend: str, runs: int, interactions: int) -> hb.Study:
    """The study, by two workers."""
    return hb.simulate(
        paper_problem(1.0, 0.5, 10),
        POLICIES,
        Federated(),
        runs,
        num_interactions=interactions,
        backend=backend,
        jobs=WORKERS if backend == "local" else 1,
        progress=False,
    )


def processor_seconds(mark: str) -> np.ndarray:
    """The processor time so far: of workers, of this process, and of the others that it started."""
    own = os.times()
    used = np.array([0.0, own.user + own.system, own.children_user + own.children_system])
    for pid in family(os.getpid())[1:]:
        with suppress(OSError):  # it has ended
            line = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
            used[0 if mark in line else 2] += cpu_seconds(pid)
    return used


@dataclass(frozen=True, slots=True)
class Cost:
    """What a study took."""

    wall: float
    chunks: float  # seconds in chunks, of all workers
    used: np.ndarray  # see `processor_seconds`


def measured(backend: str, runs: int, interactions: int) -> tuple[Cost, hb.Study]:
    """What the study costs on warm workers, and the study."""
    with cluster(backend):
        study(backend, 2 * 200, 2)  # workers import the package and load its kernels
        before, start = processor_seconds(MARKS[backend]), time.perf_counter()
        done = study(backend, runs, interactions)
        wall = time.perf_counter() - start
        used = processor_seconds(MARKS[backend]) - before
    chunks = sum(outcome.seconds for outcome in done.outcomes.values())
    return Cost(wall, chunks, used), done


def row(backend: str, costs: list[Cost], local: list[Cost] | None, same: bool) -> str:
    """A back end's line of the table."""
    wall, used = sum(cost.wall for cost in costs), np.sum([cost.used for cost in costs], axis=0)
    busy = sum(cost.chunks for cost in costs) / (WORKERS * wall)
    cells = [backend, f"{wall:.1f}", f"{busy:.1%}", f"{1 - busy:.1%}"]
    cells += [f"{seconds:.1f}" for seconds in used]
    if local is None:
        cells += ["", "", ""]
    else:
        base = sum(cost.used.sum() for cost in local)
        each = [
            cost.used.sum() / other.used.sum() for cost, other in zip(costs, local, strict=True)
        ]
        cells += [f"{used.sum() / base:.3f}", " ".join(f"{ratio:.3f}" for ratio in each)]
        cells += [f"{wall / sum(cost.wall for cost in local):.3f}"]
    return " | ".join(["", *cells, "yes" if same else "NO", ""]).strip()


def main() -> None:
    """Print a row for each back end."""
    parser = argparse.ArgumentParser(prog="python -m bench.clusters", description=__doc__)
    parser.add_argument("--backends", nargs="+", default=["local", "ray", "dask"])
    parser.add_argument("--runs", type=int, default=12_000)
    parser.add_argument("--interactions", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    costs: dict[str, list[Cost]] = {backend: [] for backend in options.backends}
    same = dict.fromkeys(options.backends, True)
    first: hb.Study | None = None
    for _ in range(options.rounds):
        for backend in options.backends:
            cost, done = measured(backend, options.runs, options.interactions)
            costs[backend].append(cost)
            first = first or done
            same[backend] &= all(
                np.array_equal(done.outcomes[name].curve, first.outcomes[name].curve)
                for name in POLICIES
            )
    print(
        "| back end | seconds | of both workers in chunks | the rest | processor seconds: workers "
        "| this process | the engine | all over local | in each round | wall time over local "
        "| the same regret |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for backend in options.backends:
        print(row(backend, costs[backend], costs.get("local"), same[backend]), flush=True)


if __name__ == "__main__":
    main()
