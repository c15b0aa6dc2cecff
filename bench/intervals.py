"""`python -m bench.intervals`: how often the intervals of learned widths hold the truth.

Every log is drawn from a hierarchy with noise 1, and fitted with default settings.  The table has
the share of 95 % intervals that hold the true widths, noise and means, and the share of widths that
are told from zero.  `--bootstrap` logs of each cell are also drawn again, 60 times each, from what
maximum likelihood makes of them; the last column has the mean lengths over those of the intervals
from the 2.5th to the 97.5th percentile of maximum likelihood's estimates.  Intervals without an end
are left out there: those of arms that one task alone played.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

import hierbandits as hb
from bench.tables import Table
from hierbandits.fitting import Fit, fit_prior
from hierbandits.fitting.structure import StructureKind
from hierbandits.types import Indices, Matrix, Vector

UNEVEN = "20 x 1 to 100,000"  # rows of each task, log-uniform
SHAPES = ("500 x 2", "200 x 5", "20 x 50", "3 x 20", UNEVEN)
WIDTHS = (0.0, 0.1, 0.5, 1.0, 2.0)
FORMS: dict[str, tuple[StructureKind, int]] = {
    "arms": ("diagonal", 5),
    "level and deviations": ("common", 5),
    "features": ("diagonal", 3),
}
REPEATS = 60


@dataclass(frozen=True, slots=True)
class World:
    """What logs are drawn from; the noise is 1."""

    form: str
    mean: Vector  # mu, (d,)
    task_cov: Matrix  # (d, d)
    noise_std: float

    @classmethod
    def of(cls, rng: Generator, form: str, width: float) -> "World":
        """Tasks differ by `width` in each coordinate; half of its square may be in common."""
        dim = FORMS[form][1]
        cov = width**2 * np.eye(dim)
        if form == "level and deviations":
            cov = width**2 / 2 * (np.eye(dim) + 1)
        return cls(form, rng.normal(size=dim), cov, 1.0)

    def log(self, rng: Generator, rows: Indices) -> hb.TaskSums:
        """A log with so many rows of each task; arms and features are drawn at random."""
        dim, tasks = self.mean.size, rows.size
        root = np.linalg.cholesky(self.task_cov + 1e-18 * np.eye(dim))
        theta = self.mean + rng.normal(size=(tasks, dim)) @ root.T
        draw = self._linear_log if self.form == "features" else self._armed_log
        return draw(rng, rows, theta)

    def _linear_log(self, rng: Generator, rows: Indices, theta: Matrix) -> hb.TaskSums:
        """The sums themselves: with X = Q R, R is drawn by Bartlett's decomposition."""
        tasks, dim = theta.shape
        sums = hb.TaskSums.zeros(tasks, dim)
        upper, diagonal = np.triu_indices(dim, 1), np.arange(dim)
        for s in range(tasks):
            if rows[s] <= dim:
                x = rng.normal(size=(rows[s], dim))
            else:
                x = np.zeros((dim, dim))
                x[upper] = rng.normal(size=upper[0].size)
                x[diagonal, diagonal] = np.sqrt(rng.chisquare(rows[s] - diagonal))
            noise = self.noise_std * rng.normal(size=len(x))  # along the columns of Q
            y = x @ theta[s] + noise
            beside = rng.chisquare(rows[s] - len(x)) if rows[s] > len(x) else 0.0
            sums.xx[s], sums.xy[s], sums.n[s] = x.T @ x, x.T @ y, rows[s]
            sums.yy[s] = y @ y + self.noise_std**2 * beside
        return sums

    def _armed_log(self, rng: Generator, rows: Indices, theta: Matrix) -> hb.TaskSums:
        """The sums themselves: means are normal and squares about them chi-squared."""
        dim = self.mean.size
        counts = rng.multinomial(rows, np.full(dim, 1 / dim)).astype(float)
        played = counts > 0
        noise = self.noise_std * rng.normal(size=theta.shape) / np.sqrt(np.maximum(counts, 1))
        means = np.where(played, theta + noise, 0.0)
        squares = np.where(counts > 1, rng.chisquare(np.maximum(counts - 1, 1)), 0.0)
        yy = (self.noise_std**2 * squares + counts * means**2).sum(1)
        return hb.TaskSums(counts, counts * means, yy, rows.astype(float))


def rows_of(rng: Generator, shape: str) -> Indices:
    """The rows of each task of a shape such as "3 x 20"."""
    if shape == UNEVEN:
        return np.round(10 ** rng.uniform(0, 5, 20)).astype(np.intp)
    tasks, rows = map(int, shape.split(" x "))
    return np.full(tasks, rows)


def ends_of(fit: Fit) -> Matrix:
    """The ends of the intervals of widths, noise and means, (2, 2 d + 1)."""
    assert fit.means is not None
    low = [fit.task_widths.low, fit.noise_width.low, fit.means.low[0]]
    high = [fit.task_widths.high, fit.noise_width.high, fit.means.high[0]]
    return np.array([np.concatenate(low), np.concatenate(high)])


def bootstrap(rng: Generator, form: str, sums: hb.TaskSums, rows: Indices) -> Vector:
    """The lengths of percentile intervals, from logs drawn from maximum likelihood's world."""
    kind = FORMS[form][0]

    def estimates(log: hb.TaskSums) -> tuple[Vector, World]:
        fit = fit_prior(log, structure=kind, weak_priors=False, intervals=False)
        mean = hb.Belief.from_sums(fit.prior, log).hyper().mean
        cov = fit.prior.task_cov
        world = World(form, mean, np.diag(cov) if cov.ndim == 1 else cov, fit.prior.noise_std)
        return np.concatenate([fit.task_widths.std, [fit.prior.noise_std], mean]), world

    world = estimates(sums)[1]
    again = [estimates(world.log(rng, rows))[0] for _ in range(REPEATS)]
    lengths: Vector = np.ptp(np.quantile(again, [0.025, 0.975], axis=0), axis=0)
    return lengths


def cell(form: str, shape: str, width: float, logs: int, first: int, bootstraps: int) -> list[str]:
    """What the logs of one cell say, as a row of the table."""
    kind, dim = FORMS[form]
    held, told, lengths, others = [], [], [], []
    for number in range(first, first + logs):
        rng = np.random.default_rng([number, round(10 * width), list(FORMS).index(form)])
        world, rows = World.of(rng, form, width), rows_of(rng, shape)
        sums = world.log(rng, rows)
        fit = fit_prior(sums, structure=kind)
        truth = np.concatenate([np.full(dim, width), [1.0], world.mean])
        low, high = ends_of(fit)
        held.append((low <= truth) & (truth <= high))
        told.append(~fit.task_widths.maybe_zero)
        if number - first < bootstraps:
            has_end = np.isfinite(high - low)
            lengths.append(np.where(has_end, high - low, np.nan))
            others.append(np.where(has_end, bootstrap(rng, form, sums, rows), np.nan))
    parts = np.split(np.mean(held, axis=0), [dim, dim + 1])
    row = [form, shape, f"{width:g}"] + [f"{100 * part.mean():.0f} %" for part in parts]
    row.append(f"{100 * np.mean(told):.1f} %")
    if bootstraps:
        mine, theirs = (
            np.array([p.mean() for p in np.split(np.nanmean(each, axis=0), [dim, dim + 1])])
            for each in (lengths, others)
        )
        row.append(", ".join(f"{ratio:.1f}" for ratio in mine / theirs))
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table of all cells."""
    parser = argparse.ArgumentParser(prog="python -m bench.intervals", description=__doc__)
    parser.add_argument("--logs", type=int, default=1000, help="of each cell [1000]")
    parser.add_argument("--first", type=int, default=0, help="the number of the first log [0]")
    parser.add_argument("--bootstrap", type=int, default=0, help="logs that are drawn again [0]")
    parser.add_argument("--form", choices=tuple(FORMS), help="one alone")
    parser.add_argument("--shape", help='one alone, such as "3 x 20"')
    parser.add_argument("--width", type=float, choices=WIDTHS, help="one alone")
    parser.add_argument("--jobs", type=int, default=1, help="processes [1]")
    options = parser.parse_args(arguments)
    columns = ["form", "tasks x rows", "width", "widths", "noise", "means", "told from zero"]
    columns += ["lengths over bootstrap's: widths, noise, means"] if options.bootstrap else []
    print(Table("", columns, []).markdown(), flush=True)
    cells: list[tuple[str, str, float, int, int, int]] = []
    bootstraps = min(options.bootstrap, options.logs)
    for form in FORMS if options.form is None else (options.form,):
        for shape in SHAPES if options.shape is None else (options.shape,):
            cells += [
                (form, shape, width, options.logs, options.first, bootstraps)
                for width in (WIDTHS if options.width is None else (options.width,))
            ]
    with ProcessPoolExecutor(options.jobs) as pool:
        for row in pool.map(cell, *zip(*cells, strict=True)):
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
