"""An environment whose tasks are given: the mean reward of every arm in every task."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from hierbandits.checks import index_array, real_array
from hierbandits.environments.events import Events, checked_events
from hierbandits.environments.reward_law import RewardLaw, check_reward_law, draw_rewards
from hierbandits.keyed_random import Stream
from hierbandits.models.beta_hierarchy import BetaHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KnownBandit:
    """The same K-armed tasks in every run, for example those of real data.

        gaussian:   y ~ N(means[task, arm], prior.noise_std^2)
        bernoulli:  y ~ Ber(means[task, arm])

    Only the luck in rewards differs from run to run.  Policies are told `prior`; OracleTS is also
    told the average of `means` over tasks.
    """

    means: Matrix  # (tasks, K)
    prior: GaussianHierarchy | BetaHierarchy
    rewards: RewardLaw = "gaussian"

    def __post_init__(self) -> None:
        means = real_array("means", self.means, (None, None))
        if not self.prior.is_armed or self.prior.dim != means.shape[1] or len(means) == 0:
            raise ValueError(
                f"prior must be armed, with an arm for each column of means, got {self.prior} "
                f"and means of shape {means.shape}"
            )
        check_reward_law(self.rewards)
        if self.rewards == "gaussian" and not isinstance(self.prior, GaussianHierarchy):
            raise ValueError(f"prior must state the noise of gaussian rewards, got {self.prior}")
        if self.rewards == "bernoulli" and (means.min() < 0 or means.max() > 1):
            raise ValueError(
                f"means must be in [0, 1] for bernoulli rewards, got {means.min()} to {means.max()}"
            )
        object.__setattr__(self, "means", means.copy())

    @property
    def num_tasks(self) -> int:
        """The number of tasks of each run."""
        return len(self.means)

    def worlds(self, rng: Generator, seed: int, first_run: int, runs: int) -> "KnownWorlds":
        """`runs` runs of the same tasks."""
        return KnownWorlds(self, seed, runs)


class KnownWorlds:
    """A chunk's runs of a KnownBandit."""

    def __init__(self, bandit: KnownBandit, seed: int, runs: int) -> None:
        self.truth = np.tile(bandit.means.mean(axis=0), (runs, 1))  # (runs, K)
        self._bandit = bandit
        self._luck = Stream(seed, "reward")
        self._best = bandit.means.max(axis=1)

    def offer(self, events: Events) -> Arms:
        """All K arms, in every event."""
        checked_events(events, 0, None, self._bandit.num_tasks)
        return Arms.of(None, events.run.size, self._bandit.prior.dim, armed=True)

    def play(self, events: Events, arms: Arms, choices: Indices) -> tuple[Vector, Vector]:
        """The reward and the regret of each event's choice."""
        bandit = self._bandit
        size = checked_events(events, 0, None, bandit.num_tasks).size
        played = index_array("choices", choices, bandit.prior.dim, "arms")
        if played.size != size:
            raise ValueError(f"choices must match {size} events, got {played.size}")
        value = bandit.means[events.task, played]
        regret: Vector = self._best[events.task] - value
        noise_std = bandit.prior.noise_std if isinstance(bandit.prior, GaussianHierarchy) else 1.0
        return draw_rewards(bandit.rewards, value, noise_std, self._luck, events), regret
