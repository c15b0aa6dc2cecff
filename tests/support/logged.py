"""Logs of simulated decisions whose truth is known, for the tests of evaluation."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from hierbandits import Columns, GaussianHierarchy, Log
from hierbandits.evaluation.training import Training
from hierbandits.logs import GroupSums, Split, Survey
from support.oracle import random_cov

NAMES = {"task": "task", "arm": "arm", "reward": "reward", "propensity": "p"}


@dataclass
class World:
    """Mean rewards, and how a log's policy chooses."""

    values: np.ndarray  # (tasks, K)
    odds: np.ndarray  # (tasks, K), what the log's policy would like
    noise: float = 1.0

    @classmethod
    def drawn(cls, rng, tasks=6, arms=3, skew=1.0):
        values = rng.normal(0, 0.7, arms) + rng.normal(0, 0.4, (tasks, arms))
        odds = np.exp(skew * rng.normal(size=(tasks, arms)))
        odds = 0.85 * odds / odds.sum(axis=1, keepdims=True) + 0.15 / arms
        return cls(values, odds)

    @property
    def shape(self):
        return self.values.shape

    def rows(self, rng, count, barred=0.0):
        """A frame; each arm is barred from a row with this probability, one arm always left."""
        tasks, arms = self.shape
        task = rng.integers(0, tasks, count)
        eligible = rng.random((count, arms)) >= barred
        eligible[np.arange(count), rng.integers(0, arms, count)] = True
        odds = np.where(eligible, self.odds[task], 0.0)
        odds = odds / odds.sum(axis=1, keepdims=True)
        arm = np.minimum((odds.cumsum(1) < rng.random((count, 1))).sum(1), arms - 1)
        each = np.arange(count)
        return pl.DataFrame(
            {
                "task": [f"t{i}" for i in task],
                "arm": [f"a{i}" for i in arm],
                "reward": self.values[task, arm] + self.noise * rng.normal(size=count),
                "p": odds[each, arm],
                "eligible": self._lists(eligible),
                "group": [f"g{i // 4}" for i in task],
                "when": rng.permutation(count),
            }
        )

    def _lists(self, eligible):
        if eligible.all():
            return [self.arms] * len(eligible)
        return [[f"a{i}" for i in np.flatnonzero(row)] for row in eligible]

    @property
    def arms(self):
        return [f"a{i}" for i in range(self.shape[1])]

    def log(self, frame, batch_rows=1 << 17, **more):
        return Log.read(frame, Columns(**(NAMES | more)), arms=self.arms, batch_rows=batch_rows)

    def prior(self, **widths):
        widths = {"hyper_std": 0.7, "task_std": 0.4, "noise_std": self.noise} | widths
        return GaussianHierarchy.armed(self.shape[1], **widths)


def drawn_table(rng, tasks=6, arms=3):
    """Preferences for a table policy."""
    return rng.dirichlet(np.ones(arms), tasks) * rng.integers(0, 2, (tasks, 1)) + 0.05


def table_policy(table):
    """A policy of fixed preferences (tasks, K), shared out among the eligible arms."""

    def policy(task, arms):
        odds = np.array([table[int(task[1:]), int(arm[1:])] for arm in arms])
        return odds / odds.sum()

    return policy


def drawn_case(rng, linear, together=False):
    """A log in two populations of different sizes, and everything that DM needs by hand."""
    world = World.drawn(rng, tasks=6, arms=4)
    frame = world.rows(rng, 300)
    features = {f"a{i}": rng.normal(size=2) for i in range(4)} if linear else None
    prior = world.prior(hyper_std=rng.uniform(0.3, 1, 4), task_std=rng.uniform(0.2, 0.6, 4))
    if together:
        prior = prior.with_levels(rng.normal(size=4), [random_cov(rng, 4), random_cov(rng, 4, 0.5)])
    if linear:
        prior = GaussianHierarchy(
            hyper_mean=rng.normal(size=2),
            hyper_cov=random_cov(rng, 2),
            task_cov=random_cov(rng, 2, 0.5),
            noise_std=0.8,
        )
    return world, frame, features, prior


def sums_by_group(log, split):
    """The sums of a log's rows, by the groups of a split."""
    sums = GroupSums(split.num_groups)
    for batch in log.batches():
        sums.add(batch, split.groups(batch.numbers, batch.times))
    return sums


def trained_on_all(log, prior, table=None):
    """A training on all rows of a log."""
    sums = sums_by_group(log, Split.none())
    return Training.of(Survey.of(log), 0, sums.total(), prior, table)
