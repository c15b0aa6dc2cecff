"""Whole studies: a run of the simulator beside plain numpy, and the paper's figure in full."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import hierbandits as hb
from bench import algorithm1
from bench.timing import best
from hierbandits.experiments.experiment import paper_problem

INTERACTIONS, BATCH = 200, 5


@dataclass(frozen=True, slots=True)
class StudyCost:
    """Milliseconds for a run of the paper's problem, and seconds for its whole figure."""

    runs: int
    ours: float  # milliseconds
    plain: float  # milliseconds, in numpy as a reader would write it
    tuned: float  # milliseconds, in numpy with cheaper draws
    regrets: tuple[float, float]  # mean regret, ours and numpy's: the same algorithm
    errors: tuple[float, float]
    figure_runs: int
    figure_seconds: float  # of `hierbandits reproduce synthetic`, in a process of its own

    @property
    def ratio(self) -> float:
        """How many runs we simulate while plain numpy does one."""
        return self.plain / self.ours


def study_cost(runs: int, times: int, figure_runs: int) -> StudyCost:
    """Time both in turn on one thread; then the figure, on all cores, with nothing compiled yet."""
    problem, rounds = paper_problem(1.0, 0.1), hb.schedules.Concurrent(BATCH)
    rng = np.random.default_rng(0)
    regrets: list[float] = []

    def ours() -> float:
        start = time.perf_counter()
        hb.simulate(problem, ["HierTS"], rounds, runs, progress=False)
        return 1e3 * (time.perf_counter() - start) / runs

    def reference(tuned: bool) -> float:
        start = time.perf_counter()
        regrets.append(algorithm1.run(problem, INTERACTIONS, BATCH, rng, tuned))
        return 1e3 * (time.perf_counter() - start)

    ours()  # compiles
    plain, tuned = partial(reference, False), partial(reference, True)
    cost = best({"ours": ours, "plain": plain, "tuned": tuned}, times)
    study = hb.simulate(problem, ["HierTS"], rounds, runs, progress=False)
    mean, error = study.mean("HierTS")
    plain_error = (
        float(np.std(regrets, ddof=1) / np.sqrt(len(regrets))) if len(regrets) > 1 else 0.0
    )
    return StudyCost(
        runs,
        cost["ours"],
        cost["plain"],
        cost["tuned"],
        (mean, float(np.mean(regrets))),
        (error, plain_error),
        figure_runs,
        _figure_seconds(figure_runs),
    )


def _figure_seconds(runs: int) -> float:
    """Run the command as a user does, with an empty cache of kernels."""
    command = Path(sys.executable).with_name("hierbandits")
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run(
            [command, "reproduce", "synthetic", "--runs", str(runs), "--out", folder],
            env={**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"},
            check=True,
            capture_output=True,
        )
        return time.perf_counter() - start
