"""Digits as a bandit: find the picture of the positive class among thirty.

[HBB, appendix Image Classification Experiment].  The truth is the labels: a picture of the
positive class has mean reward 0.9, any other 0.1, whatever its features.  The paper does not say
how its tasks and its prior were made; here:

- A task is a sub-sample of the test half, without replacement, and each interaction offers K
  pictures drawn uniformly from it, with replacement.  If all tasks drew from the whole half they
  would be one task.
- theta_s is what predicts rewards best in the task: least squares of the mean rewards on the
  features, with the ridge sigma^2 that the hyper-prior N(0, I) stands for.  Rewards are not
  linear in pixels, so that the fit depends on which pictures count: half of the weight is on
  pictures as they are offered, half on those that the fit itself would choose of K, as learners
  do.  Nobody is told theta_s, and regret does not involve it.
- mu_* and Sigma_0 are the mean and the covariance of theta_s over 500 sub-samples of the
  training half, of the size of a task.  Some pixels are black in every picture, so 1e-6 is added
  to the diagonal of Sigma_0.

Tried instead, on MNIST: with all the weight on pictures as offered, OracleTS has more regret than
HierTS for digits 1, 4, 5 and 9.  With the mean of the positive pictures for theta_s, as the
paper's words suggest, it has about three times HierTS's regret (digits 0 and 8): that mean does
not predict rewards.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng

from hierbandits.checks import count, real_array
from hierbandits.environments.images import Images
from hierbandits.keyed_random import Events, Stream
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector

POSITIVE, NEGATIVE = 0.9, 0.1  # mean rewards
NOISE_STD = 0.5  # sigma
ARMS = 30  # K
SUBSAMPLES = 500
PASSES = 8  # of the fit: its predictions then move by less than 0.01
DIAGONAL = 1e-6  # added to Sigma_0
_ESTIMATE_SEED = 0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DigitBandit:
    """Tasks that offer pictures, of which those of one class are worth more."""

    prior: GaussianHierarchy
    hyper: Vector  # mu_*, (d,)
    features: Matrix  # of all the test pictures, (n, d)
    mean_rewards: Vector  # (n,)
    subsample: int  # pictures of a task
    num_tasks: int = 10
    num_arms: int = ARMS

    def __post_init__(self) -> None:
        real_array("features", self.features, (None, self.prior.dim), " to match prior")
        size = len(self.features)
        real_array("mean_rewards", self.mean_rewards, (size,), " to match features")
        real_array("hyper", self.hyper, (self.prior.dim,), " to match prior")
        count("num_tasks", self.num_tasks, least=1)
        count("num_arms", self.num_arms, least=1)
        if count("subsample", self.subsample, least=1) > size:
            raise ValueError(f"subsample must be at most {size} pictures, got {self.subsample}")

    @classmethod
    def of(cls, train: Images, test: Images, digit: int) -> "DigitBandit":
        """The paper's problem with `digit` as the positive class."""
        size = subsample_size(len(train.labels))
        mean, cov = estimate(train.features, class_rewards(train.labels, digit), size)
        dim = mean.size
        prior = GaussianHierarchy(
            hyper_mean=np.zeros(dim), hyper_cov=np.eye(dim), task_cov=cov, noise_std=NOISE_STD
        )
        return cls(
            prior=prior,
            hyper=mean,
            features=test.features,
            mean_rewards=class_rewards(test.labels, digit),
            subsample=size,
        )

    def worlds(self, rng: Generator, seed: int, first_run: int, runs: int) -> "DigitWorlds":
        """Draw the sub-samples of these runs."""
        pools = np.empty((runs, self.num_tasks, self.subsample), np.intp)
        for run in range(runs):
            for task in range(self.num_tasks):
                pools[run, task] = rng.choice(len(self.features), self.subsample, replace=False)
        return DigitWorlds(self, seed, first_run, pools)


class DigitWorlds:
    """A batch of runs of a DigitBandit; an arm's number is its picture's in the test half."""

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
        size, pool_size = events.run.size, self.pools.shape[2]
        place = (self._pictures.uniforms(events, self._num_arms) * pool_size).astype(np.intp)
        run, task = events.run - self._first, events.task
        rows = self.pools[run[:, None], task[:, None], place]
        offset = np.arange(size + 1) * self._num_arms
        base = np.zeros(size, np.intp)
        return Arms(self._features, rows.ravel(), offset[:-1].copy(), offset, base)

    def play(self, events: Events, arms: Arms, choices: Indices) -> tuple[Vector, Vector]:
        """The reward and the regret of each event's choice."""
        value = self._mean_rewards[choices]
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


def fit(features: Matrix, rewards: Vector) -> Vector:
    """theta_s: weighted ridge least squares, iterated to agree with its own choices.

    The picture of rank q in (0, 1) among its task's is the best of K with density K q^(K - 1).
    """
    n, dim = features.shape
    ranks = (np.arange(n) + 0.5) / n
    chosen = ARMS * ranks ** (ARMS - 1)
    weights = np.ones(n)
    for _ in range(PASSES):
        weighted = features * weights[:, None]
        gram = weighted.T @ features + NOISE_STD**2 * np.eye(dim)
        theta: Vector = np.linalg.solve(gram, weighted.T @ rewards)
        order = np.argsort(features @ theta, kind="stable")
        weights /= 2  # half a step at a time, since whole ones can go to and fro
        weights[order] += (1 + chosen) / 4
    return theta


def estimate(features: Matrix, rewards: Vector, size: int) -> tuple[Vector, Matrix]:
    """mu_* and Sigma_0: the mean and the covariance of the fit over sub-samples of this size."""
    rng = default_rng(_ESTIMATE_SEED)
    thetas = np.empty((SUBSAMPLES, features.shape[1]))
    for i in range(SUBSAMPLES):
        rows = rng.choice(len(features), size, replace=False)
        thetas[i] = fit(features[rows], rewards[rows])
    return thetas.mean(axis=0), np.cov(thetas.T) + DIAGONAL * np.eye(features.shape[1])
