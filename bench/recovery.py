"""`python -m bench.recovery`: how well known widths are learned from simulated logs.

Every run draws a world from the hierarchy, sums its rewards and learns the widths with default
settings.  The tables are those of docs/learning.md.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import hierbandits as hb
from bench.tables import Table
from hierbandits.fitting import Fit, fit_prior
from hierbandits.fitting.fit import Widths
from hierbandits.fitting.structure import StructureKind
from hierbandits.types import Mask, Matrix, Vector

TASK_STDS = np.array([0.1, 0.3, 1.0])
HYPER_STDS = np.array([0.5, 1.0, 2.0])
CORRELATION = 0.5  # of each pair of parameters, where covariances are full
NOISE_STD = 1.0
EVENTS = 20  # for each task
TASKS = (10, 30, 100, 300, 1000)
POPULATIONS = (10, 30, 100)
TASKS_EACH = 10


@dataclass(frozen=True, slots=True)
class Recovery:
    """What the runs of one size learned, for each width."""

    size: int  # tasks, or populations
    error: Vector  # root mean square of learned / true - 1
    bias: Vector  # mean of the same
    cover: Vector  # the share of 95 % intervals that hold the truth
    zero: Vector  # the share that may be zero


def tasks_study(structure: StructureKind, runs: int, sizes: Sequence[int]) -> Iterator[Recovery]:
    """The widths of one population's tasks, and the noise, as tasks grow."""
    truth = np.append(TASK_STDS, NOISE_STD)
    for size in sizes:
        rng = np.random.default_rng(size)
        fits = [_fit(rng, structure, 1, size) for _ in range(runs)]
        yield _recovery(size, truth, [(fit.task_widths, fit.noise_width) for fit in fits])


def populations_study(
    structure: StructureKind, runs: int, sizes: Sequence[int]
) -> Iterator[Recovery]:
    """The hyper-widths as populations grow."""
    for size in sizes:
        rng = np.random.default_rng(size)
        fits = [_fit(rng, structure, size, TASKS_EACH) for _ in range(runs)]
        yield _recovery(size, HYPER_STDS, [(fit.hyper_widths,) for fit in fits])


def _fit(rng: np.random.Generator, structure: StructureKind, populations: int, tasks: int) -> Fit:
    dim = len(TASK_STDS)
    mu = rng.multivariate_normal(np.ones(dim), _cov(HYPER_STDS, structure), populations)
    population = np.repeat(np.arange(populations), tasks)
    own = rng.multivariate_normal(np.zeros(dim), _cov(TASK_STDS, structure), population.size)
    theta = mu[population] + own
    rows = np.repeat(np.arange(population.size), EVENTS)
    x = rng.standard_normal((rows.size, dim))
    rewards = (x * theta[rows]).sum(1) + NOISE_STD * rng.standard_normal(rows.size)
    sums = hb.TaskSums.zeros(population.size, dim)
    sums.add(rows, x, rewards)
    return fit_prior(sums, population=population, structure=structure)


def _cov(stds: Vector, structure: StructureKind) -> Matrix:
    correlation = CORRELATION if structure == "full" else 0.0
    shape = (1 - correlation) * np.eye(len(stds)) + correlation
    cov: Matrix = stds * shape * stds[:, None]
    return cov


def _recovery(size: int, truth: Vector, learned: Sequence[tuple[Widths, ...]]) -> Recovery:
    stds = np.array([np.concatenate([w.std for w in parts]) for parts in learned])
    low = np.array([np.concatenate([w.low for w in parts]) for parts in learned])
    high = np.array([np.concatenate([w.high for w in parts]) for parts in learned])
    zero: Mask = np.array([np.concatenate([w.maybe_zero for w in parts]) for parts in learned])
    off = stds / truth - 1
    inside = (low <= truth) & (truth <= high)
    return Recovery(
        size, np.sqrt((off**2).mean(0)), off.mean(0), inside.mean(0), zero.astype(float).mean(0)
    )


def table(title: str, size: str, names: Sequence[str], rows: Sequence[Recovery]) -> Table:
    """Each width's error, with its bias, and the coverage, with the share that may be zero."""
    columns = [size]
    columns += [f"{name}: error (bias)" for name in names] + [f"{name}: held" for name in names]
    cells = [
        [f"{row.size:,}"]
        + [f"{e:.1%} ({b:+.1%})" for e, b in zip(row.error, row.bias, strict=True)]
        + [f"{c:.1%}" for c in row.cover]
        for row in rows
    ]
    return Table(title, columns, cells)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the studies and print their tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.recovery", description=__doc__)
    parser.add_argument("--runs", type=int, default=400, help="simulated logs for each row [400]")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    options = parser.parse_args(arguments)
    tasks, populations = (TASKS[:2], POPULATIONS[:1]) if options.quick else (TASKS, POPULATIONS)
    structures: tuple[StructureKind, ...] = ("diagonal", "full")
    for structure in structures:
        names = [f"task {std:g}" for std in TASK_STDS] + [f"noise {NOISE_STD:g}"]
        rows = list(tasks_study(structure, options.runs, tasks))
        print(f"\n{structure}\n\n{table(structure, 'tasks', names, rows).markdown()}", flush=True)
    names = [f"hyper {std:g}" for std in HYPER_STDS]
    rows = list(populations_study("diagonal", options.runs, populations))
    print(f"\npopulations\n\n{table('', 'populations', names, rows).markdown()}")


if __name__ == "__main__":
    main()
