"""`python -m bench.rare_events`: widths of equal tasks whose arms have rare events.

Every log has rewards of 0 and 1, which an arm brings at a rate of its own; tasks do not differ.  A
noise that is one for all arms is too small for arms of high rates, whose rewards vary more, and
what is left looks like widths.  The table has the share of widths that are told from zero, and of
logs with any, with one noise and with the structure that `learn_prior` would choose.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

import hierbandits as hb
from bench.tables import Table
from hierbandits.fitting import fit_prior
from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.types import Matrix

SHAPES = {"20 x 300": (20, 300), "50 x 100": (50, 100), "200 x 30": (200, 30)}
RATES = {"0.5, 2, 20 %": (0.005, 0.02, 0.2), "5, 10, 20, 40 %": (0.05, 0.1, 0.2, 0.4)}


def drawn(rng: Generator, shape: str, rates: Sequence[float]) -> tuple[hb.TaskSums, Matrix]:
    """The sums of a log, and the squares of each task's and arm's rewards."""
    tasks, rows = SHAPES[shape]
    counts = rng.multinomial(np.full(tasks, rows), np.full(len(rates), 1 / len(rates)))
    events = rng.binomial(counts, rates).astype(float)
    sums = hb.TaskSums(counts.astype(float), events, events.sum(1), np.full(tasks, float(rows)))
    return sums, events


def cell(shape: str, rates: str, logs: int, first: int) -> list[str]:
    """What the logs of one cell say, as a row of the table."""
    one, chosen, by_arm = [], [], []
    for number in range(first, first + logs):
        rng = np.random.default_rng([number, list(SHAPES).index(shape), list(RATES).index(rates)])
        sums, squares = drawn(rng, shape, RATES[rates])
        choice = StructureChoice.of(sums, np.zeros(len(sums.n), np.intp), None, 0, squares)
        by_arm.append(choice.has_noise_by_arm)
        fit = fit_prior(
            sums,
            structure=choice.best,
            rank=choice.rank,
            squares=squares if choice.has_noise_by_arm else None,
        )
        chosen.append(~fit.task_widths.maybe_zero)
        one.append(~fit_prior(sums).task_widths.maybe_zero)
    row = [shape, rates]
    for told in (np.array(one), np.array(chosen)):
        row += [f"{100 * told.mean():.1f} %", f"{100 * told.any(1).mean():.1f} %"]
    return [*row, f"{100 * np.mean(by_arm):.0f} %"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table of all cells."""
    parser = argparse.ArgumentParser(prog="python -m bench.rare_events", description=__doc__)
    parser.add_argument("--logs", type=int, default=200, help="of each cell [200]")
    parser.add_argument("--first", type=int, default=0, help="the number of the first log [0]")
    parser.add_argument("--shape", choices=tuple(SHAPES), help="one alone")
    options = parser.parse_args(arguments)
    columns = ["tasks x rows", "rates", "one noise: widths told from zero", "logs with any"]
    columns += ["as chosen: widths told from zero", "logs with any", "chosen: noise by arm"]
    print(Table("", columns, []).markdown(), flush=True)
    for shape in SHAPES if options.shape is None else (options.shape,):
        for rates in RATES:
            row = cell(shape, rates, options.logs, options.first)
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
