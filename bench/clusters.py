"""What a back end costs: one study in this machine's processes, on Ray, on Dask and on Spark.

`python -m bench.clusters` simulates the same study on each, with two workers that are started and
warm, and prints the wall time, what the workers spent in chunks, and what is left: overhead, and
waiting for the last chunk.
"""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import hierbandits as hb
from hierbandits.experiments.experiment import paper_problem
from hierbandits.simulation.schedules import Federated

WORKERS = 2
POLICIES = ("HierTS", "TS")


@contextmanager
def cluster(backend: str) -> Iterator[None]:
    """Two workers of a back end; those of the local one start with the work."""
    if backend == "ray":
        import ray

        ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()
    elif backend == "dask":
        from distributed import Client

        with Client(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None):
            yield
    elif backend == "spark":
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(f"local[{WORKERS},4]")
        session = builder.config("spark.ui.enabled", "false").getOrCreate()
        yield
        session.stop()
    else:
        yield


def study(backend: str, runs: int, interactions: int) -> tuple[float, hb.Study]:
    """The seconds of a study, and the study."""
    start = time.perf_counter()
    done = hb.simulate(
        paper_problem(1.0, 0.5, 10),
        POLICIES,
        Federated(),
        runs,
        num_interactions=interactions,
        backend=backend,
        jobs=WORKERS if backend == "local" else 1,
        progress=False,
    )
    return time.perf_counter() - start, done


def main() -> None:
    """Print a row for each back end."""
    parser = argparse.ArgumentParser(prog="python -m bench.clusters", description=__doc__)
    parser.add_argument("--backends", nargs="+", default=["local", "ray", "dask"])
    parser.add_argument("--runs", type=int, default=12_000)
    parser.add_argument("--interactions", type=int, default=400)
    options = parser.parse_args()
    print("| back end | seconds | of both workers in chunks | the rest | the same regret |")
    print("|---|---|---|---|---|")
    first: hb.Study | None = None
    for backend in options.backends:
        with cluster(backend):
            study(backend, 2 * 200, 2)  # workers import the package and load its kernels
            wall, done = study(backend, options.runs, options.interactions)
        busy = sum(outcome.seconds for outcome in done.outcomes.values()) / (WORKERS * wall)
        first = first or done
        same = all(
            np.array_equal(done.outcomes[name].curve, first.outcomes[name].curve)
            for name in POLICIES
        )
        print(
            f"| {backend} | {wall:.1f} | {busy:.1%} | {1 - busy:.1%} | {'yes' if same else 'NO'} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
