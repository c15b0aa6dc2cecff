"""`python -m bench.click_widths`: how often intervals of widths that clicks teach hold the truth.

Every log has 50 tasks of 400 rows, four arms or three features, and base rates of 2 % or 20 %; true
task widths are drawn log-uniform from 0.2 to 1, in log odds.  The table has the share of 95 %
intervals that hold them, those that start at zero, and the same for the mean log odds; and beside
it the share where the same clicks are taken for Gaussian, whose widths are in rates.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from scipy.special import expit, logit

import hierbandits as hb
from bench.tables import Table
from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.fitting import fit_prior
from hierbandits.fitting.family_fit import fit_family_prior
from hierbandits.models import FAMILIES
from hierbandits.types import Mask, Vector

TASKS, ROWS = 50, 400
RATES = (0.02, 0.2)
WIDTHS = 0.2, 1.0
FORMS = {"arms": 4, "features": 3}
GAUSSIAN = 20_000  # draws that the true width of a rate is measured by


def covered(low: Vector, high: Vector, truth: Vector) -> Mask:
    """Where intervals hold the truth."""
    return (low <= truth) & (truth <= high)


def one_log(rng: Generator, form: str, rate: float) -> list[Mask]:
    """Whether widths, means and Gaussian widths are held, and which widths may be zero."""
    dim = FORMS[form]
    width = np.exp(rng.uniform(np.log(WIDTHS[0]), np.log(WIDTHS[1]), dim))
    mean = rng.normal(0, 0.3, dim)
    mean += logit(rate) * (np.arange(dim) == 0) if form == "features" else logit(rate)
    theta = mean + width * rng.normal(size=(TASKS, dim))
    tasks = np.repeat(np.arange(TASKS), ROWS)
    family, none = FAMILIES["bernoulli"](), np.zeros(dim, bool)
    uniform = rng.random(tasks.size)
    if form == "arms":
        arms = rng.integers(0, dim, tasks.size)
        rewards = (uniform < expit(theta[tasks, arms])).astype(float)
        sums = hb.TaskSums.zeros(TASKS, dim, armed=True)
        sums.add(tasks, arms, rewards)
        sites = FamilySites.of_arms(family, sums)
        widths = fit_prior(sums).task_widths
        true = expit(mean + width * rng.normal(size=(GAUSSIAN, dim))).std(0)
        gaussian = covered(widths.low, widths.high, true)
    else:
        x = np.column_stack([np.ones(tasks.size), rng.normal(size=(tasks.size, dim - 1))])
        rewards = (uniform < expit((x * theta[tasks]).sum(1))).astype(float)
        sites = FamilySites(
            family, tasks, x, rewards, np.ones(tasks.size), num_tasks=TASKS, dim=dim
        )
        gaussian = none
    fit = fit_family_prior(sites)
    assert fit.means is not None
    held = covered(fit.task_widths.low, fit.task_widths.high, width)
    means = covered(fit.means.low[0], fit.means.high[0], mean)
    return [held, fit.task_widths.maybe_zero, means, gaussian]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.click_widths", description=__doc__)
    parser.add_argument("--logs", type=int, default=100, help="of each row [100]")
    parser.add_argument("--form", choices=tuple(FORMS), help="one alone")
    options = parser.parse_args(arguments)
    columns = ["form", "base rate", "widths held", "± s.e.", "may be zero", "means held"]
    print(Table("", [*columns, "widths held, as Gaussian"], []).markdown(), flush=True)
    for form in FORMS if options.form is None else (options.form,):
        for rate in RATES:
            rng = np.random.default_rng([int(100 * rate), FORMS[form]])
            logs = np.array([one_log(rng, form, rate) for _ in range(options.logs)], float)
            error = logs[:, 0].mean(1).std() / np.sqrt(options.logs)
            held, zero, means, gaussian = (f"{100 * part:.1f} %" for part in logs.mean((0, 2)))
            row = [form, f"{100 * rate:g} %", held, f"{100 * error:.1f}", zero, means]
            print(f"| {' | '.join([*row, gaussian if form == 'arms' else ''])} |", flush=True)


if __name__ == "__main__":
    main()
