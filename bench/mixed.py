"""Learning widths beside statsmodels' MixedLM: the same rows, the same restricted likelihood."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

import hierbandits as hb
from bench.timing import best
from hierbandits.fitting import Fit, fit_prior
from hierbandits.types import Indices, Matrix, Vector

EVENTS = 20
CASES = {1: "random intercept", 3: "intercept and two slopes, full covariance"}


@dataclass(frozen=True, slots=True)
class MixedCost:
    """Seconds to fit the same rows, and how far apart the two ended."""

    dim: int
    num_tasks: int
    ours: float  # seconds, the sums of the rows included
    theirs: float  # seconds
    evidence_difference: float  # log evidence of our widths less that of theirs
    apart: float  # the largest difference of a (co)variance, over the largest task variance

    @property
    def ratio(self) -> float:
        """How many fits we make while MixedLM makes one."""
        return self.theirs / self.ours


def mixed_costs(num_tasks: int, times: int) -> list[MixedCost]:
    """Fit both cases; none if statsmodels is missing."""
    if find_spec("statsmodels") is None:
        return []
    return [_cost(dim, num_tasks, times) for dim in CASES]


def _cost(dim: int, num_tasks: int, times: int) -> MixedCost:
    from statsmodels.regression.mixed_linear_model import MixedLM

    tasks, x, y = _rows(dim, num_tasks)

    def ours() -> Fit:
        sums = hb.TaskSums.zeros(num_tasks, dim)
        sums.add(tasks, x, y)
        return fit_prior(sums, structure="full", weak_priors=False)

    def theirs() -> Any:
        return MixedLM(y, x, tasks, exog_re=x).fit(reml=True)

    fit, mixed = ours(), theirs()  # also compiles
    seconds = best({"ours": lambda: _seconds(ours), "theirs": lambda: _seconds(theirs)}, times)
    cov, noise_var = np.asarray(mixed.cov_re), float(mixed.scale)
    other = fit.prior.with_levels(
        fit.prior.hyper_mean, [fit.prior.hyper_cov, cov], float(np.sqrt(noise_var))
    )
    sums = hb.TaskSums.zeros(num_tasks, dim)
    sums.add(tasks, x, y)
    evidence = hb.Belief.from_sums(other, sums).log_evidence()[0]
    apart = max(np.abs(fit.prior.task_cov - cov).max(), abs(fit.prior.noise_std**2 - noise_var))
    return MixedCost(
        dim,
        num_tasks,
        seconds["ours"],
        seconds["theirs"],
        float(fit.log_evidence - evidence),
        float(apart / np.diagonal(cov).max()),
    )


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _rows(dim: int, num_tasks: int) -> tuple[Indices, Matrix, Vector]:
    """Draw rows: each task has EVENTS events, give or take a half; the first feature is one."""
    rng = np.random.default_rng(0)
    tasks = np.repeat(
        np.arange(num_tasks), rng.integers(EVENTS // 2, EVENTS + EVENTS // 2 + 1, num_tasks)
    )
    x = np.column_stack([np.ones(tasks.size), rng.standard_normal((tasks.size, dim - 1))])
    theta = rng.multivariate_normal(np.ones(dim), 0.2 * np.eye(dim) + 0.1, num_tasks)
    return tasks, x, (x * theta[tasks]).sum(1) + 0.7 * rng.standard_normal(tasks.size)


if __name__ == "__main__":
    for cost in mixed_costs(num_tasks=1_000, times=3):
        print(cost, f"{cost.ratio:.0f} times as fast")
