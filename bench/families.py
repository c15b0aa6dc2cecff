"""`python -m bench.families`: what a click or a count costs beside a Gaussian reward."""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is imported

import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from functools import partial  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

import hierbandits as hb  # noqa: E402
from bench.timing import best  # noqa: E402

TASKS, EVENTS, TIMES = 1000, 1000, 60  # a batch fits into a time slice of a busy machine
DIMS = (0, 2, 4, 8, 16, 32)  # 0: ten arms
FAMILIES = ("gaussian", "bernoulli", "poisson")
LEARNED = 20  # events of each task before those that are timed


def costs(dim: int) -> dict[str, float]:
    """Nanoseconds per event of each family, the same tasks and features, taken in turn."""
    prior = _prior(dim)
    repetitions = {family: _repetition(prior, family) for family in FAMILIES}
    return best(repetitions, TIMES)


def _prior(dim: int) -> hb.GaussianHierarchy:
    if dim == 0:
        return hb.GaussianHierarchy.armed(10, hyper_std=1.0, task_std=0.5, noise_std=0.7)
    scale = dim**-0.5
    return hb.GaussianHierarchy.linear(dim, hyper_std=scale, task_std=scale / 2, noise_std=0.7)


def _repetition(prior: hb.GaussianHierarchy, family: str) -> Callable[[], float]:
    belief: Any = hb.Belief(prior, num_tasks=TASKS)
    if family != "gaussian":
        belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, family), num_tasks=TASKS)
    rng = np.random.default_rng(0)
    belief.observe(*_events(prior, family, LEARNED * TASKS, rng))
    return partial(_time, belief, _events(prior, family, EVENTS, rng))


def _events(prior: hb.GaussianHierarchy, family: str, size: int, rng: np.random.Generator) -> Any:
    tasks = rng.integers(0, TASKS, size)
    features = rng.integers(0, prior.dim, size) if prior.is_armed else _rows(rng, size, prior.dim)
    rewards = {
        "gaussian": rng.standard_normal(size),
        "bernoulli": rng.binomial(1, 0.3, size).astype(float),
        "poisson": rng.poisson(0.5, size).astype(float),
    }[family]
    return tasks, features, rewards


def _rows(rng: np.random.Generator, size: int, dim: int) -> Any:
    return rng.standard_normal((size, dim))


def _time(belief: Any, events: Any) -> float:
    twin = belief.copy()
    twin.observe(*events)  # makes room
    start = time.perf_counter()
    twin.observe(*events)
    return 1e9 * (time.perf_counter() - start) / EVENTS


def main() -> None:
    """Print nanoseconds per event, and how many Gaussian events that is."""
    print("| features | Gaussian, ns | clicks, ns | counts, ns | clicks | counts |")
    print("|---|---|---|---|---|---|")
    for dim in DIMS:
        found = costs(dim)
        plain, *others = (found[family] for family in FAMILIES)
        cells = [f"{dim or 'ten arms'}", *(f"{found[family]:.0f}" for family in FAMILIES)]
        print(f"| {' | '.join([*cells, *(f'{other / plain:.1f} ×' for other in others)])} |")


if __name__ == "__main__":
    main()
