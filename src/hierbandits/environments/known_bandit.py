"""A world whose tasks are given: the means of every arm in every task, from real data say."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from hierbandits.checks import real_array
from hierbandits.keyed_random import Events, Stream
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KnownBandit:
    """The same K-armed tasks in every run; only the luck in rewards differs.

        gaussian:   y ~ N(means[task, arm], noise_std^2), noise_std that of `prior`
        bernoulli:  y ~ Ber(means[task, arm])

    `prior` is what policies are told; OracleTS is told the means' average over tasks.
    """

    means: Matrix  # (tasks, K)
    prior: GaussianHierarchy
    rewards: Literal["gaussian", "bernoulli"] = "gaussian"

    def __post_init__(self) -> None:
        means = real_array("means", self.means, (None, None))
        if not self.prior.is_armed or self.prior.dim != means.shape[1] or len(means) == 0:
            raise ValueError(
                f"prior must be armed, with an arm for each column of means, got {self.prior} "
                f"and means of shape {means.shape}"
            )
        if self.rewards not in ("gaussian", "bernoulli"):
            raise ValueError(f"rewards must be gaussian or bernoulli, got {self.rewards!r}")
        if self.rewards == "bernoulli" and (means.min() < 0 or means.max() > 1):
            raise ValueError(
                f"means must be in [0, 1] for bernoulli rewards, got {means.min()} to {means.max()}"
            )
        object.__setattr__(self, "means", means)

    @property
    def num_tasks(self) -> int:
        """The number of tasks of each run."""
        return len(self.means)

    def worlds(self, rng: Generator, seed: int, first_run: int, runs: int) -> "KnownWorlds":
        """So many runs of the same tasks."""
        return KnownWorlds(self, seed, runs)


class KnownWorlds:
    """A batch of runs of a KnownBandit."""

    def __init__(self, bandit: KnownBandit, seed: int, runs: int) -> None:
        self.truth = np.tile(bandit.means.mean(axis=0), (runs, 1))  # (runs, K)
        self._bandit = bandit
        self._noise = Stream(seed, "reward")
        self._best = bandit.means.max(axis=1)

    def offer(self, events: Events) -> Arms:
        """All arms, always."""
        return Arms.of(None, events.run.size, self._bandit.prior.dim, armed=True)

    def play(self, events: Events, arms: Arms, choices: Indices) -> tuple[Vector, Vector]:
        """The reward and the regret of each event's choice."""
        value = self._bandit.means[events.task, choices]
        regret: Vector = self._best[events.task] - value
        if self._bandit.rewards == "bernoulli":
            return (self._noise.uniforms(events, 1)[:, 0] < value).astype(float), regret
        noise = self._noise.normals(events, 1)[:, 0]
        return value + self._bandit.prior.noise_std * noise, regret
