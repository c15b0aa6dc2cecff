"""Synthetic logs whose every row is at hand, and dense references on them."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from hierbandits import Belief, Columns, GaussianHierarchy, Log, TaskSums, learn_prior
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from support.oracle import dense_posterior, full

FORMS = [(armed, populations) for armed in (True, False) for populations in (1, 3)]
CLOSE = {"rtol": 1e-8, "atol": 1e-10}


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
    task_cov=None,
):
    """Rows in random order, `events` of each task on average.

    `noise` may be a function of (rng, E).
    """
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(0, populations, tasks))
    group[:populations] = np.arange(populations)
    mu = mean + hyper_std * rng.standard_normal((populations, d))
    root = task_std * np.eye(d) if task_cov is None else np.linalg.cholesky(task_cov)
    theta = mu[group] + rng.standard_normal((tasks, d)) @ root.T
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


@cache
def learned(armed, populations=1):
    """A log of this form, the prior that it teaches, and the report on it."""
    rows = drawn(30, armed=armed, populations=populations, tasks=30, events=40)
    prior, report = learn_prior(rows.frame(), **rows.arguments, runs=10, seed=2)
    return rows, prior, report


def other_prior(rows, seed=5):
    """A hierarchy that is not the one the rows were drawn from, and nowhere the identity."""
    rng, d = np.random.default_rng(seed), rows.dim
    if rows.armed:
        return GaussianHierarchy.armed(
            d, hyper_mean=rng.normal(2, 1, d), hyper_std=rng.uniform(0.5, 2, d),
            task_std=rng.uniform(0.2, 0.8, d), noise_std=0.6,
        )  # fmt: skip
    a, b = rng.standard_normal((2, d, d))
    return GaussianHierarchy(
        hyper_mean=rng.normal(2, 1, d),
        hyper_cov=a @ a.T + 0.1 * np.eye(d),
        task_cov=0.1 * (b @ b.T) + 0.05 * np.eye(d),
        noise_std=0.6,
    )


def posteriors(prior, sums, population):
    return TaskPosteriors.of(Belief.from_sums(prior, sums, population=population))


def sums_of(rows, keep=slice(None)):
    sums = TaskSums.zeros(len(rows.theta), rows.dim, armed=rows.armed)
    sums.add(rows.task[keep], rows.features[keep], rows.rewards[keep])
    return sums


def as_form(rows, cov):
    """Covariances as the rows' hierarchy has them: diagonals if armed."""
    return np.diagonal(cov, axis1=-2, axis2=-1) if rows.armed else cov


@cache
def uneven_report(seed=0, noises=(0.1, 0.3, 1.5), task_std=0.0):
    """A report on a log of 30 tasks of 60 rows, whose three arms have these noises."""
    rng = np.random.default_rng(seed)
    theta = np.arange(3.0) + task_std * rng.standard_normal((30, 3))
    task, arm = np.repeat(np.arange(30), 60), rng.integers(0, 3, 1800)
    y = theta[task, arm] + np.array(noises)[arm] * rng.standard_normal(1800)
    arms = np.array(["a", "b", "c"])[arm]
    frame = pl.DataFrame({"store": task, "promo": arms, "sale": y})
    columns = {"task": "store", "arm": "promo", "reward": "sale", "arms": ["a", "b", "c"]}
    return learn_prior(frame, **columns, runs=0)[1]
