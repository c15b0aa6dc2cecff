"""A first look: the paper's synthetic problem, small, with four policies side by side."""

from collections.abc import Callable, Sequence

import numpy as np

from hierbandits.arms import Arms
from hierbandits.arrays import Matrix, Vector
from hierbandits.hierarchy import GaussianHierarchy
from hierbandits.policies import POLICIES

COMPARED = ("OracleTS", "HierTS", "PooledTS", "TS")
NUM_TASKS, NUM_ARMS, CONCURRENT = 10, 10, 5


def compare(
    runs: int, rounds: int, task_std: float, seed: int, advance: Callable[[], object]
) -> dict[str, Matrix]:
    """The regret of every run and round, (runs, rounds), for each policy, in the same worlds.

    mu ~ N(0, I), theta_s ~ N(mu, task_std^2 I), ten arms uniform in [-1/2, 1/2]^2 for each run,
    rewards of noise 1/2, five random tasks of ten in a round.  `advance` is called once a round.
    """
    rng = np.random.default_rng(seed)
    prior = GaussianHierarchy(
        hyper_mean=np.zeros(2),
        hyper_cov=np.eye(2),
        task_cov=task_std**2 * np.eye(2),
        noise_std=0.5,
    )
    truth = rng.standard_normal((runs, 2))
    theta = truth[:, None] + task_std * rng.standard_normal((runs, NUM_TASKS, 2))
    arms = rng.uniform(-0.5, 0.5, (runs, NUM_ARMS, 2))
    values = np.einsum("rkd,rsd->rsk", arms, theta)  # of every run, task and arm
    run = np.repeat(np.arange(runs), CONCURRENT)
    sets = Arms.grouped(arms, run)
    schedule = rng.integers(0, NUM_TASKS, (rounds, run.size))
    noise = prior.noise_std * rng.standard_normal((rounds, run.size))
    regret: dict[str, Matrix] = {}
    for name in COMPARED:
        policy = POLICIES[name](prior, NUM_TASKS, runs, truth=truth)
        choose = np.random.default_rng(seed + 1)
        regret[name] = np.empty((runs, rounds))
        for t in range(rounds):
            tasks = run * NUM_TASKS + schedule[t]
            choices = policy.act(choose, tasks, sets)
            value = values[run, schedule[t]]
            earned = value[np.arange(run.size), choices]
            policy.learn(tasks, sets.features(choices), earned + noise[t])
            lost = value.max(axis=1) - earned
            regret[name][:, t] = lost.reshape(runs, CONCURRENT).sum(axis=1)
            advance()
    return regret


def mean_and_error(values: Sequence[float] | Vector) -> tuple[float, float]:
    """The mean and its standard error."""
    array = np.asarray(values)
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(array.size))
