"""`python -m bench.grids`: what a click or a count costs on a grid, beside a Gaussian reward."""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is imported

import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from functools import partial  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

import hierbandits as hb  # noqa: E402

ARMS, TASKS, BATCH, BATCHES, TIMES = 10, 1000, 1000, 20, 5
RESOLUTIONS = (16, 32, 64)


def costs() -> dict[str, tuple[float, float]]:
    """Nanoseconds per event of each model: the least of a batch, and the mean of a life.

    In a life grids move, early on above all; in its quickest batch they do not.
    """
    gaussian = hb.GaussianHierarchy.armed(ARMS, hyper_std=1.0, task_std=0.5, noise_std=0.7)
    clicks = hb.GeneralizedHierarchy(gaussian, "bernoulli")
    makers: dict[str, Callable[[], Any]] = {
        "Gaussian": partial(hb.Belief, gaussian, TASKS),
        "clicks, matched": partial(hb.MatchedBelief, clicks, TASKS),
    }
    for n in RESOLUTIONS:
        beta, gamma = (kind(ARMS, resolution=n) for kind in (hb.BetaHierarchy, hb.GammaHierarchy))
        makers[f"clicks, {n} × {n} cells"] = partial(hb.GridBelief, beta, TASKS)
        makers[f"counts, {n} × {n} cells"] = partial(hb.GridBelief, gamma, TASKS)
    found = {}
    for name, make in makers.items():
        _life(make(), "counts" in name)  # compiles
        lives = [_life(make(), "counts" in name) for _ in range(TIMES)]
        found[name] = min(map(min, lives)), min(sum(life) / BATCHES for life in lives)
    return found


def _life(belief: Any, counts: bool) -> list[float]:
    """Nanoseconds per event of each of some batches, from the first reward on."""
    rng, times = np.random.default_rng(0), []
    theta = rng.gamma(4.0, 0.08, (TASKS, ARMS)) if counts else rng.beta(4, 10, (TASKS, ARMS))
    for _ in range(BATCHES):
        tasks, arms = rng.integers(0, TASKS, BATCH), rng.integers(0, ARMS, BATCH)
        rates = theta[tasks, arms]
        rewards = (rng.poisson(rates) if counts else rng.binomial(1, rates)).astype(float)
        start = time.process_time()
        belief.observe(tasks, arms, rewards)
        times.append(1e9 * (time.process_time() - start) / BATCH)
    return times


def main() -> None:
    """Print nanoseconds per event, and how many Gaussian events that is."""
    found = costs()
    plain = found["Gaussian"][0]
    print("| rewards | ns | Gaussian events | ns, moves of the grid included |\n|---|---|---|---|")
    for name, (least, mean) in found.items():
        print(f"| {name} | {least:.0f} | {least / plain:.0f} × | {mean:.0f} |")


if __name__ == "__main__":
    main()
