"""`python -m bench.outliers`: how often tasks stand out that do not, and that do.

Logs of three arms or features are drawn with mu ~ N(0, 1), a task width of 0.5 and noise of
variance 1 that is Gaussian, skewed or heavy-tailed.  In a quarter as many logs, the first task is
five task widths above or below what it would be.  The tables are those of docs/learning.md.
"""

import argparse
from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.random import Generator

import hierbandits as hb
from bench.tables import Table
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.learning.log_checks import LogChecks
from hierbandits.learning.outliers import Outliers
from hierbandits.logs import GroupSums, Survey
from hierbandits.types import Mask, Vector

SHAPES = ((20, 50), (100, 20), (500, 5))  # tasks, rows of each
NOISES: dict[str, Callable[[Generator, int], Vector]] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "exponential": lambda rng, size: rng.exponential(size=size) - 1,
    "log-normal": lambda rng, size: (
        (np.exp(rng.standard_normal(size)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
    ),
    "t, 5 degrees": lambda rng, size: rng.standard_t(5, size) / np.sqrt(5 / 3),
    "t, 3 degrees": lambda rng, size: rng.standard_t(3, size) / np.sqrt(3),
}


def draw(rng: Generator, tasks: int, rows: int, armed: bool, noise: str, shift: int) -> hb.Log:
    """A log; `shift` is 0, or the side to which the first task stands out."""
    task = np.repeat(np.arange(tasks), rows)
    theta = rng.standard_normal(3) + 0.5 * rng.standard_normal((tasks, 3))
    theta[0] += 2.5 * shift
    luck = NOISES[noise](rng, task.size)
    if armed:
        arm = rng.integers(0, 3, task.size)
        frame = pl.DataFrame({"task": task, "arm": arm, "reward": theta[task, arm] + luck})
        return hb.Log.read(frame, hb.Columns(task="task", arm="arm", reward="reward"))
    x = np.column_stack([np.ones(task.size), rng.standard_normal((task.size, 2))])
    names = ["x0", "x1", "x2"]
    columns = {"task": task, "reward": (x * theta[task]).sum(1) + luck}
    frame = pl.DataFrame(columns | dict(zip(names, x.T, strict=True)))
    return hb.Log.read(frame, hb.Columns(task="task", features=names, reward="reward"))


def flagged(log: hb.Log) -> Mask:
    """The tasks that stand out, as `learn_prior` with structure="diagonal" finds them."""
    gathered = GroupSums()
    survey = Survey.of(log, with_each=gathered.add)
    sums = gathered.total()
    checks = LogChecks(survey, sums)
    for batch in log.batches():
        checks.add(batch)
    prior = hb.fit_prior(sums, structure="diagonal", intervals=False).prior
    posteriors = TaskPosteriors.of(hb.Belief.from_sums(prior, sums))
    names = survey.tasks, survey.coordinates
    return Outliers.of(prior, sums, posteriors, *names, checks.noise_shape()).flagged


def shares(logs: int, tasks: int, rows: int, armed: bool, noise: str) -> list[str]:
    """How often any task is flagged where none stands out, and the first where it does."""
    found = []
    for shift in (0, 1, -1):
        count = logs if shift == 0 else max(1, logs // 4)
        hits = 0
        for number in range(count):
            rng = np.random.default_rng([tasks, rows, number, shift + 1])
            flags = flagged(draw(rng, tasks, rows, armed, noise, shift))
            hits += bool(flags.any() if shift == 0 else flags[0])
        found.append(f"{100 * hits / count:.{1 if shift == 0 else 0}f} %")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.outliers", description=__doc__)
    parser.add_argument("--logs", type=int, default=400, help="logs of each shape and noise")
    given = parser.parse_args()
    columns = ["noise", "log", "any, if none does", "one that is above", "one that is below"]
    for armed in (True, False):
        table = []
        for tasks, rows in SHAPES:
            for noise in NOISES:
                cells = shares(given.logs, tasks, rows, armed, noise)
                table.append([noise, f"{tasks} × {rows}", *cells])
                print(" | ".join(table[-1]), flush=True)
        title = "arms" if armed else "features"
        print(Table("", [title, *columns[1:]], table).markdown(), flush=True)


if __name__ == "__main__":
    main()
