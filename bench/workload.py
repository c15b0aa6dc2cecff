"""What everything is measured on: events of random tasks of one simulated population."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import hierbandits as hb

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

NUM_ARMS = 20
ROUND = 1000  # events that the batched calls take together
NUM_EVENTS = 256 * ROUND  # drawn beforehand, then used over again

HYPER_VAR = 0.5
TASK_VAR = 0.5
PRIOR_VAR = HYPER_VAR + TASK_VAR  # what an independent learner believes of each feature's weight
NOISE_STD = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Events in a fixed order: which task acts, and its reward for whatever arm it plays."""

    prior: hb.GaussianHierarchy
    arms: Matrix  # (K, d), the same for all tasks
    means: Matrix  # (m, K), the expected rewards
    tasks: Indices  # (N,)
    noise: Vector  # (N,)

    @classmethod
    def of(cls, dim: int, num_tasks: int, seed: int = 0) -> "Workload":
        """The workload of this size, drawn from a prior with dense covariances."""
        rng = np.random.default_rng(seed)
        prior = hb.GaussianHierarchy(
            hyper_mean=np.zeros(dim),
            hyper_cov=HYPER_VAR * _correlation(rng, dim),
            task_cov=TASK_VAR * _correlation(rng, dim),
            noise_std=NOISE_STD,
        )
        arms = rng.normal(size=(NUM_ARMS, dim)) / dim**0.5
        mu = np.linalg.cholesky(prior.hyper_cov) @ rng.standard_normal(dim)
        deviations = rng.standard_normal((num_tasks, dim)) @ np.linalg.cholesky(prior.task_cov).T
        tasks = rng.integers(num_tasks, size=NUM_EVENTS)
        noise = rng.normal(0.0, NOISE_STD, size=NUM_EVENTS)
        return cls(prior, arms, (mu + deviations) @ arms.T, tasks, noise)

    @property
    def num_tasks(self) -> int:
        return len(self.means)

    @property
    def dim(self) -> int:
        return self.prior.dim

    def rounds(self) -> Iterator[tuple[Indices, Vector]]:
        """The tasks and noise of one round after another, without end."""
        while True:
            for start in range(0, NUM_EVENTS, ROUND):
                yield self.tasks[start : start + ROUND], self.noise[start : start + ROUND]

    def events(self) -> Iterator[tuple[int, float]]:
        """The task and noise of one event after another, without end."""
        tasks, noise = self.tasks.tolist(), self.noise.tolist()
        while True:
            yield from zip(tasks, noise, strict=True)


def _correlation(rng: Generator, dim: int) -> Matrix:
    """A dense correlation matrix, well conditioned."""
    directions = rng.standard_normal((dim, 2 * dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    matrix: Matrix = directions @ directions.T
    return matrix
