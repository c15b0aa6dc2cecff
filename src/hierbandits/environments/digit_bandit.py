"""Digits as a bandit: find the picture of the positive class among thirty.

[HBB, appendix Image Classification Experiment].  The truth is the labels: a picture of the
positive class has mean reward 0.9, any other 0.1, whatever its features.

- A task is a sub-sample of the test half, without replacement.  Each interaction offers K
  pictures drawn uniformly from it, with replacement.  The paper says that actions are "uniformly
  sampled from the test images", which the reading "test-half" takes literally: all tasks are then
  the same problem.
- mu_* and Sigma_0 are estimated on the training half, see `digit_estimators`.  All policies are
  told Sigma_0 and OracleTS alone is told mu_*.  Nobody is told theta_s, and regret does not
  involve it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from hierbandits.checks import count, index_array, real_array
from hierbandits.environments.digit_estimators import (
    ARMS,
    NEGATIVE,
    NOISE_STD,
    POSITIVE,
    THETA_ESTIMATORS,
    estimate_population,
)
from hierbandits.environments.digit_reading import DigitReading
from hierbandits.environments.events import Events, checked_events
from hierbandits.environments.images import Images
from hierbandits.keyed_random import Stream
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.model import Model
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DigitBandit:
    """Tasks that offer pictures, of which those of one class are worth more."""

    prior: Model
    hyper: Vector  # mu_*, (d,)
    features: Matrix  # of all the test pictures, (n, d)
    mean_rewards: Vector  # (n,)
    subsample: int  # pictures of a task, among all; if it has all, tasks are the same problem
    num_tasks: int = 10
    num_arms: int = ARMS

    def __post_init__(self) -> None:
        features = real_array("features", self.features, (None, self.prior.dim), " to match prior")
        size = len(features)
        means = real_array("mean_rewards", self.mean_rewards, (size,), " to match features")
        hyper = real_array("hyper", self.hyper, (self.prior.dim,), " to match prior")
        for name, own in (("features", features), ("mean_rewards", means), ("hyper", hyper)):
            object.__setattr__(self, name, own.copy())
        count("num_tasks", self.num_tasks, least=1)
        count("num_arms", self.num_arms, least=1)
        if count("subsample", self.subsample, least=1) > size:
            raise ValueError(f"subsample must be at most {size} pictures, got {self.subsample}")

    @classmethod
    def of(
        cls, train: Images, test: Images, digit: int, reading: DigitReading | None = None
    ) -> "DigitBandit":
        """The paper's problem with `digit` as the positive class, read as we do by default."""
        reading = reading or DigitReading()
        size = subsample_size(len(train.labels))
        mean, cov = estimate_population(
            train.features,
            class_rewards(train.labels, digit),
            size,
            THETA_ESTIMATORS[reading.estimator].fit,
        )
        dim = mean.size
        prior = GaussianHierarchy(
            hyper_mean=np.zeros(dim), hyper_cov=np.eye(dim), task_cov=cov, noise_std=NOISE_STD
        )
        return cls(
            prior=prior,
            hyper=mean,
            features=test.features,
            mean_rewards=class_rewards(test.labels, digit),
            subsample=size if reading.arms_from == "subsample" else len(test.labels),
        )

    def worlds(self, rng: Generator, seed: int, first_run: int, runs: int) -> "DigitWorlds":
        """Draw the sub-samples of these runs."""
        size, shape = len(self.features), (runs, self.num_tasks, self.subsample)
        if self.subsample == size:  # nothing to draw, and one row stands for all
            return DigitWorlds(self, seed, first_run, np.broadcast_to(np.arange(size), shape))
        pools = np.empty(shape, np.intp)
        for run in range(runs):
            for task in range(self.num_tasks):
                pools[run, task] = rng.choice(size, self.subsample, replace=False)
        return DigitWorlds(self, seed, first_run, pools)


class DigitWorlds:
    """A chunk's runs of a DigitBandit; an arm's number is its picture's in the test half."""

    def __init__(self, bandit: DigitBandit, seed: int, first_run: int, pools: Indices) -> None:
        self.truth = np.tile(bandit.hyper, (len(pools), 1))  # (runs, d)
        self.pools = pools  # the pictures of each task, (runs, tasks, subsample)
        self._features = real_array("features", bandit.features, (None, None))
        self._mean_rewards = bandit.mean_rewards
        self._num_arms = bandit.num_arms
        self._first = first_run
        self._pictures = Stream(seed, "pictures")
        self._luck = Stream(seed, "reward")

    def offer(self, events: Events) -> Arms:
        """Fresh pictures of each event's task, as rows of the one table of all."""
        run, task = checked_events(events, self._first, *self.pools.shape[:2]), events.task
        uniforms = self._pictures.uniforms(events, self._num_arms)
        place = (uniforms * self.pools.shape[2]).astype(np.intp)
        rows = self.pools[run[:, None], task[:, None], place]
        return Arms._raw_of_rows(self._features, rows.ravel(), np.full(len(rows), self._num_arms))

    def play(self, events: Events, arms: Arms, choices: Indices) -> tuple[Vector, Vector]:
        """The reward and the regret of each event's choice."""
        checked_events(events, self._first, *self.pools.shape[:2])
        value = self._mean_rewards[index_array("choices", choices, len(self._features), "pictures")]
        best = np.maximum.reduceat(self._mean_rewards[arms.flat_rows()], arms.offset[:-1])
        luck = self._luck.uniforms(events, 1)[:, 0]
        return (luck < value).astype(float), best - value


def subsample_size(num_images: int) -> int:
    """The pictures of a task: 500, or a quarter of a small half, so that tasks differ."""
    return min(500, num_images // 4)


def class_rewards(labels: Indices, digit: int) -> Vector:
    """The mean reward of each picture when `digit` is the positive class."""
    if not (labels == digit).any():
        raise ValueError(f"digit must be among {np.unique(labels).tolist()}, got {digit!r}")
    return np.where(labels == digit, POSITIVE, NEGATIVE)
