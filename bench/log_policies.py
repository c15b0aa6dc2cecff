"""`python -m bench.log_policies`: what policies that are learned from a log alone earn in truth.

Every run draws a world and a log, learns the policies from all rows and looks up what they earn.
The table has the mean reward of the best single arm, and what others earn more, paired over runs.
Noise has a standard deviation of 1.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

import hierbandits as hb

Array = NDArray[np.float64]
TASKS = 20


@dataclass(frozen=True, slots=True)
class Setting:
    """Worlds and a way to log them."""

    name: str
    rows: int
    values: Callable[[Generator], Array]  # mean rewards, (tasks, arms)
    odds: Callable[[Generator, Array], Array]  # how the log chooses, of the same shape
    tails: float = np.inf  # degrees of freedom of Student's t noise


def _alike(*means: float, std: float) -> Callable[[Generator], Array]:
    def values(rng: Generator) -> Array:
        return np.array(means) + std * rng.normal(size=(TASKS, len(means)))

    return values


def _drawn(arms: int, hyper_std: float, task_std: float) -> Callable[[Generator], Array]:
    def values(rng: Generator) -> Array:
        return hyper_std * rng.normal(size=arms) + task_std * rng.normal(size=(TASKS, arms))

    return values


def _skewed(skew: float) -> Callable[[Generator, Array], Array]:
    def odds(rng: Generator, values: Array) -> Array:
        liked = np.exp(skew * rng.normal(size=values.shape))
        shares: Array = liked / liked.sum(axis=1, keepdims=True)
        mixed: Array = 0.85 * shares + 0.15 / values.shape[1]
        return mixed

    return odds


def _fixed(*odds: float) -> Callable[[Generator, Array], Array]:
    return lambda _, values: np.tile(odds, (len(values), 1))


def _knowing(_: Generator, values: Array) -> Array:
    liked = np.exp(3 * values)
    odds: Array = 0.9 * liked / liked.sum(axis=1, keepdims=True) + 0.1 / values.shape[1]
    return odds


SETTINGS = (
    Setting("one arm is best", 1000, _alike(0, 0.2, 0.6, 0.1, std=0.05), _skewed(1.0)),
    Setting(
        "one arm is best, and rarely tried", 1000, _alike(0, 0.2, 0.4, 0.1, std=0.05),
        _fixed(0.45, 0.45, 0.05, 0.05),
    ),
    Setting("tasks differ", 1000, _drawn(4, 0.3, 0.6), _skewed(1.0)),
    Setting("tasks differ a little", 1000, _drawn(4, 0.5, 0.15), _skewed(1.0)),
    Setting("arms are nearly equal", 1000, _alike(0.3, 0.3, 0.35, 0.3, std=0.0), _skewed(1.0)),
    Setting("few rows", 100, _drawn(4, 0.3, 0.6), _skewed(1.0)),
    Setting("ten arms, very skewed log", 1500, _drawn(10, 0.4, 0.4), _skewed(2.0)),
    Setting("the log plays well", 1000, _drawn(5, 0.4, 0.4), _knowing),
    Setting(
        "heavy tails, one arm mostly", 800, _drawn(6, 0.2, 0.3),
        _fixed(0.9, 0.02, 0.02, 0.02, 0.02, 0.02), tails=2.5,
    ),
)  # fmt: skip


def learned(setting: Setting, rng: Generator) -> dict[str, float]:
    """What each policy earns in a world, as learned from one log of it."""
    values = setting.values(rng)
    odds = setting.odds(rng, values)
    task = rng.integers(0, TASKS, setting.rows)
    arm = (odds[task].cumsum(axis=1) < rng.random((setting.rows, 1))).sum(axis=1)
    arm = np.minimum(arm, values.shape[1] - 1)
    noise = rng.normal(size=setting.rows)
    if np.isfinite(setting.tails):
        noise = rng.standard_t(setting.tails, setting.rows)
    frame = pl.DataFrame({"task": task, "arm": arm, "reward": values[task, arm] + noise})
    policy = hb.hieropo(frame, task="task", arm="arm", reward="reward")
    mean, covs = policy.mean, policy.bounds.covs
    std = np.sqrt(covs if covs.ndim == 2 else np.einsum("saa->sa", covs))
    single = int((policy.plays.sum(axis=1) @ mean).argmax())
    choices = {
        "best arm": np.full(len(mean), single),
        "greedy": mean.argmax(axis=1),
        "highest lower bound": (mean - policy.alpha * std).argmax(axis=1),
        "HierOPO": policy.choices,
    }
    met = [np.array(names, np.intp) for names in (policy.tasks, policy.arms)]
    true = values[np.ix_(*met)]
    return {
        name: float(true[np.arange(len(true)), chosen].mean()) for name, chosen in choices.items()
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = ("greedy", "highest lower bound", "HierOPO")
    print(f"| setting | best arm | {' | '.join(f'{name}, more' for name in names)} |")
    print("|---|---:|" + "---:|" * len(names), flush=True)
    for place, setting in enumerate(SETTINGS):
        rngs = [np.random.default_rng([options.seed, place, run]) for run in range(options.runs)]
        runs = [learned(setting, rng) for rng in rngs]
        base = np.array([run["best arm"] for run in runs])
        cells = []
        for name in names:
            more = np.array([run[name] for run in runs]) - base
            error = more.std(ddof=1) / np.sqrt(options.runs)
            cells.append(f"{more.mean():+.4f} ± {error:.4f}")
        print(f"| {setting.name} | {base.mean():.3f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
