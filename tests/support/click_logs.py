"""Logs of clicks and counts whose truth is known."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from scipy.special import logit

import hierbandits as hb
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.logs.family_rows import merged
from hierbandits.models import FAMILIES


@dataclass
class ClickLog:
    """Rows of tasks whose linear predictors differ by known widths."""

    family: str
    tasks: np.ndarray
    features: np.ndarray  # (E, d), or arms (E,)
    rewards: np.ndarray
    theta: np.ndarray  # (tasks, d)
    width: np.ndarray  # (d,)
    mean: np.ndarray  # (d,)

    @property
    def armed(self):
        return self.features.ndim == 1

    def sums(self):
        sums = TaskSums.zeros(*self.theta.shape, armed=self.armed)
        sums.add(self.tasks, self.features, self.rewards)
        return sums

    def sites(self):
        num_tasks, dim = self.theta.shape
        return merged(
            FAMILIES[self.family](), self.tasks, self.features, self.rewards,
            num_tasks=num_tasks, dim=dim,
        )  # fmt: skip

    def frame(self):
        columns = {"store": [f"t{s}" for s in self.tasks], "clicks": self.rewards}
        if self.armed:
            return pl.DataFrame(columns | {"banner": [f"a{arm}" for arm in self.features]})
        extra = {f"x{j}": self.features[:, j] for j in range(self.features.shape[1])}
        return pl.DataFrame(columns | extra)

    @property
    def arguments(self):
        """Those of learn_prior and the like."""
        named = {"task": "store", "reward": "clicks"}
        if self.armed:
            return named | {"arm": "banner"}
        return named | {"features": [f"x{j}" for j in range(self.features.shape[1])]}


def click_log(seed, *, family="bernoulli", rate=0.2, tasks=20, rows=60, armed=True, dim=3):
    """Three arms or features; the first feature is constant."""
    rng = np.random.default_rng(seed)
    width = np.array([0.6, 0.3, 0.9, 0.5])[:dim]
    centre = logit(rate) if family == "bernoulli" else np.log(rate)
    mean = rng.normal(0, 0.4, dim)
    mean += centre if armed else centre * (np.arange(dim) == 0)
    theta = mean + width * rng.normal(size=(tasks, dim))
    of_row = rng.permutation(np.repeat(np.arange(tasks), rows))
    if armed:
        features = rng.integers(0, dim, of_row.size)
        eta = theta[of_row, features]
    else:
        features = np.column_stack([np.ones(of_row.size), rng.normal(size=(of_row.size, dim - 1))])
        eta = (features * theta[of_row]).sum(1)
    rewards = FAMILIES[family]().draw(eta, np.ones(eta.size), rng.random(eta.size))
    return ClickLog(family, of_row, features, rewards, theta, width, mean)


@cache
def learned_clicks(armed=True, family="bernoulli", structure="diagonal", runs=0):
    log = click_log(11, armed=armed, family=family, rows=80)
    report = hb.learn_prior(
        log.frame(), **log.arguments, rewards=family, structure=structure, runs=runs, horizon=8
    )[1]
    return log, report
