"""`python -m bench.click_learners`: clicks beside bayesianbandits' R-VGA learner.

Its `BayesianGLM` with an `RVGAApproximator` learns the log odds of one task from one event at a
time, as ours does.  It knows no hierarchy, so accuracy is that of single tasks, under the same
prior, against the same reference: sums over a grid of two features.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is imported

import argparse  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from functools import partial  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from numpy.random import Generator  # noqa: E402
from scipy.special import expit  # noqa: E402

import hierbandits as hb  # noqa: E402
from bench.tables import Table  # noqa: E402
from bench.timing import best  # noqa: E402
from bench.workload import Matrix, Vector  # noqa: E402

TASKS, DIM, EVENTS = 1000, 16, 1000
ROWS = 40  # of each task whose posterior is compared
POINTS, REACH = 161, 6.0  # of the grid, along each axis, and in prior standard deviations
CENTRES = {"50 %": 0.0, "6 %": -2.75}  # of the first parameter, the one of a constant
OURS, REFITTED = "hierbandits", "hierbandits, refitted"
PROBIT, QUADRATURE = "R-VGA", "R-VGA, quadrature"


def costs(times: int) -> dict[str, float]:
    """Microseconds per event: ours in batches of a thousand, theirs one by one."""
    rng = np.random.default_rng(0)
    tasks, x = rng.integers(0, TASKS, EVENTS), rng.standard_normal((EVENTS, DIM)) / DIM**0.5
    y = rng.binomial(1, 0.3, EVENTS).astype(float)
    prior = hb.GaussianHierarchy.linear(DIM, hyper_std=0.7, task_std=0.7, noise_std=1.0)
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, "bernoulli"), num_tasks=TASKS)
    repetitions: dict[str, Callable[[], float]] = {
        OURS: partial(_seconds, lambda: belief.observe(tasks, x, y), EVENTS)
    }
    few = 100
    for name, use_probit in ((PROBIT, True), (QUADRATURE, False)):
        models = [_peer(use_probit, np.zeros(DIM)) for _ in range(TASKS)]
        work = partial(_one_by_one, models, tasks[:few], x[:few], y[:few])
        repetitions[name] = partial(_seconds, work, few)
    return {name: 1e6 * value for name, value in best(repetitions, times).items()}


def _seconds(work: Callable[[], None], events: int) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) / events


def _peer(use_probit: bool, mean: Vector) -> Any:
    """Their learner of one task, with the prior N(mean, I)."""
    from bayesianbandits import BayesianGLM, RVGAApproximator

    model = BayesianGLM(1.0, link="logit", approximator=RVGAApproximator(use_probit=use_probit))
    model._initialize_prior(np.zeros((1, mean.size)))
    model.coef_ = mean.copy()
    return model


def _one_by_one(models: Sequence[Any], tasks: Any, x: Matrix, y: Vector) -> None:
    for task, row, reward in zip(tasks.tolist(), x, y, strict=True):
        models[task].partial_fit(row[None, :], np.array([reward]))


def errors(num_tasks: int, centre: float, rng: Generator) -> dict[str, tuple[float, float]]:
    """The mean error of means, in posterior standard deviations, and of widths, by learner."""
    mean = np.array([centre, 0.0])
    prior = hb.GaussianHierarchy(
        hyper_mean=mean, hyper_cov=np.zeros((2, 2)), task_cov=np.eye(2), noise_std=1.0
    )
    model = hb.GeneralizedHierarchy(prior, "bernoulli")
    found: dict[str, list[tuple[Vector, Vector]]] = {}
    for _ in range(num_tasks):
        x = np.column_stack([np.ones(ROWS), rng.standard_normal(ROWS)])
        y = (rng.random(ROWS) < expit(x @ (mean + rng.standard_normal(2)))).astype(float)
        exact, width = _exact(mean, x, y)
        belief, none = hb.MatchedBelief(model, num_tasks=1), np.zeros(ROWS, np.intp)
        belief.observe(none, x, y)
        told = {OURS: belief.task(0)}
        belief.refit()
        told[REFITTED] = belief.task(0)
        moments = {name: (known.mean, known.std) for name, known in told.items()}
        for name, use_probit in ((PROBIT, True), (QUADRATURE, False)):
            peer = _peer(use_probit, mean)
            _one_by_one([peer], none, x, y)
            cov = np.linalg.inv(np.asarray(peer.cov_inv_))
            moments[name] = np.asarray(peer.coef_), np.sqrt(np.diag(cov))
        for name, (centres, widths) in moments.items():
            error = np.abs(centres - exact) / width, np.abs(widths / width - 1)
            found.setdefault(name, []).append(error)
    return {
        name: (float(np.mean([m for m, _ in each])), float(np.mean([w for _, w in each])))
        for name, each in found.items()
    }


def _exact(mean: Vector, x: Matrix, y: Vector) -> tuple[Vector, Vector]:
    """The posterior mean and standard deviations by a sum over a grid."""
    axis = np.linspace(-REACH, REACH, POINTS)
    away = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    eta = (away + mean) @ x.T
    log_p = (y * eta - np.logaddexp(0, eta)).sum(1) - (away**2).sum(1) / 2
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    centre = weight @ away
    return centre + mean, np.sqrt(weight @ (away - centre) ** 2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what an event costs, and how far posteriors are from the exact ones."""
    parser = argparse.ArgumentParser(prog="python -m bench.click_learners", description=__doc__)
    parser.add_argument("--times", type=int, default=30, help="repetitions of each timing [30]")
    parser.add_argument("--tasks", type=int, default=100, help="posteriors of each rate [100]")
    options = parser.parse_args(arguments)
    cost = costs(options.times)
    rng = np.random.default_rng(1)
    wrong = {rate: errors(options.tasks, centre, rng) for rate, centre in CENTRES.items()}
    columns = ["learner", "µs per event", "times ours"]
    for rate in CENTRES:
        columns += [f"{rate}: means, sd", f"{rate}: widths"]
    rows = []
    for name in (OURS, REFITTED, PROBIT, QUADRATURE):
        row = [name, "", ""]
        if name in cost:
            row = [name, f"{cost[name]:.2f}", f"{cost[name] / cost[OURS]:.0f}"]
        for rate in CENTRES:
            mean, width = wrong[rate][name]
            row += [f"{mean:.4f}", f"{100 * width:.2f} %"]
        rows.append(row)
    print(Table("clicks", columns, rows, words=("learner",)).markdown())


if __name__ == "__main__":
    main()
