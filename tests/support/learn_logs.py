"""Synthetic logs whose every row is at hand, and dense references on them."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from hierbandits import Columns, Log
from support.oracle import dense_posterior, full


@dataclass
class Rows:
    """A log drawn from a hierarchy: uneven tasks, populations of uneven sizes in mixed order."""

    task: np.ndarray  # (E,) numbers in order of first appearance
    population: np.ndarray  # of each task, numbered likewise, (tasks,)
    features: np.ndarray  # (E, d), or arms (E,)
    rewards: np.ndarray
    theta: np.ndarray  # (tasks, d)

    @property
    def armed(self):
        return self.features.ndim == 1

    @property
    def dim(self):
        return self.theta.shape[1]

    @property
    def vectors(self):
        return np.eye(self.dim)[self.features] if self.armed else self.features

    @property
    def names(self):
        return [f"t{s}" for s in range(len(self.theta))]

    def frame(self):
        columns = {
            "store": [f"t{s}" for s in self.task],
            "country": [f"c{self.population[s]}" for s in self.task],
            "revenue": self.rewards,
        }
        if self.armed:
            columns["promo"] = [f"a{arm}" for arm in self.features]
        else:
            columns |= {f"x{j}": self.features[:, j] for j in range(self.dim)}
        return pl.DataFrame(columns)

    @property
    def arguments(self):
        """Those of learn_prior."""
        named = {"task": "store", "reward": "revenue"}
        if self.population.max() > 0:
            named["population"] = "country"
        if self.armed:
            return named | {"arm": "promo", "arms": [f"a{j}" for j in range(self.dim)]}
        return named | {"features": [f"x{j}" for j in range(self.dim)]}

    def log(self, **more):
        named = self.arguments
        arms = named.pop("arms", None)
        return Log.read(self.frame(), Columns(**named), arms=arms, **more)

    def joint(self, prior, keep=slice(None), centre=0.0):
        """The dense posterior: tasks first, then populations; rewards of `keep` alone."""
        m, num, d = len(self.theta), int(self.population.max()) + 1, self.dim
        parents = [m + p for p in self.population] + [-1] * num
        covs = [full(prior.task_cov)] * m + [full(prior.hyper_cov)] * num
        means = [None] * m + [prior.hyper_mean] * num
        task, x = self.task[keep], self.vectors[keep]
        design = np.zeros((len(task), (m + num) * d))
        for e, s in enumerate(task):
            design[e, s * d : (s + 1) * d] = x[e]
        noise = np.full(len(task), prior.noise_std**2)
        return dense_posterior(parents, covs, means, design, self.rewards[keep] - centre, noise)


def drawn(
    seed,
    *,
    armed,
    tasks=12,
    events=10,
    d=3,
    populations=1,
    mean=2.0,
    hyper_std=1.0,
    task_std=0.4,
    noise=0.5,
    scale=None,
):
    """Rows in random order, `events` a task on average; `noise` may be a function of (rng, E)."""
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(0, populations, tasks))
    group[:populations] = np.arange(populations)
    mu = mean + hyper_std * rng.standard_normal((populations, d))
    theta = mu[group] + task_std * rng.standard_normal((tasks, d))
    sizes = rng.integers(max(1, events // 2), events + events // 2 + 1, tasks)
    task = rng.permutation(np.repeat(np.arange(tasks), sizes))
    order = list(dict.fromkeys(task.tolist()))  # numbered as a log numbers them
    task, theta, group = np.argsort(order)[task], theta[order], group[order]
    first = list(dict.fromkeys(group[task].tolist()))
    group = np.argsort(first)[group]
    if armed:
        features = rng.integers(0, d, task.size)
        signal = theta[task, features]
    else:
        features = rng.standard_normal((task.size, d)) * (np.ones(d) if scale is None else scale)
        signal = (features * theta[task]).sum(1)
    luck = noise(rng, task.size) if callable(noise) else noise * rng.standard_normal(task.size)
    return Rows(task, group, features, signal + luck, theta)
