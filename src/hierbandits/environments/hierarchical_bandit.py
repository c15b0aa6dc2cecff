"""The paper's own environment: tasks drawn from a Gaussian hierarchy, linear or K-armed."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from hierbandits.algebra import square_root
from hierbandits.checks import count, one_of, real_array
from hierbandits.environments.action_sets import ActionSets, SampledActions
from hierbandits.environments.events import Events, checked_events
from hierbandits.environments.reward_law import RewardLaw, draw_rewards
from hierbandits.kernels.linear_forms import linear_values
from hierbandits.keyed_random import Stream
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.model import Model
from hierbandits.models.reward_families import FAMILIES, checked_family
from hierbandits.models.reward_family import RewardFamily
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector

LINEAR_PROBABILITY = "linear probability"
"""The name of rewards of 0 and 1 whose mean is x @ theta itself, cut to [0, 1]."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HierarchicalBandit:
    """Tasks that are drawn from `hierarchy`, anew in every run.

        mu_*    ~ N(mu_q, Sigma_q), or `hyper` if it is given
        theta_s ~ N(mu_*, Sigma_0)
        gaussian:            y ~ N(x @ theta_s, sigma^2)
        a family:            y ~ family(eta = x @ theta_s), with the mean reward family.mean(eta)
        linear probability:  y ~ Ber(x @ theta_s cut to [0, 1])

    `rewards` is a family or a name: "bernoulli", "binomial" and "poisson" are those families, of
    log odds and log rates.  Policies are told `believed`, or `hierarchy` itself if `believed` is
    None, with the family if rewards have one.  With "linear probability" they assume Gaussian
    rewards: their model is wrong.
    [HBB, eq. gaussian hierarchical]
    """

    hierarchy: GaussianHierarchy
    num_tasks: int
    actions: ActionSets | SampledActions | None = None
    rewards: str | RewardFamily = "gaussian"  # kept as a family, unless of these two names
    hyper: Vector | None = None  # mu_*, (d,); drawn anew for each run if None
    believed: Model | None = None

    def __post_init__(self) -> None:
        count("num_tasks", self.num_tasks, least=1)
        if self.hierarchy.num_levels != 2:
            raise ValueError(f"hierarchy must have two levels, got {self.hierarchy}")
        if self.hierarchy.is_armed == (self.actions is not None):
            raise ValueError("actions must be given for linear hierarchies and for them alone")
        if self.rewards not in ("gaussian", LINEAR_PROBABILITY):
            object.__setattr__(self, "rewards", _family(self.rewards))
        prior, truth = self.prior, self.hierarchy
        if (prior.is_armed, prior.dim) != (truth.is_armed, truth.dim):
            raise ValueError(f"believed must have the form of {truth}, got {prior}")
        if self.hyper is not None:
            own = real_array("hyper", self.hyper, (self.hierarchy.dim,)).copy()
            object.__setattr__(self, "hyper", own)

    @property
    def prior(self) -> Model:
        """What policies are told."""
        if self.believed is not None:
            return self.believed
        if isinstance(self.rewards, RewardFamily):
            return GeneralizedHierarchy(self.hierarchy, self.rewards)
        return self.hierarchy

    def worlds(self, rng: Generator, seed: int, first_run: int, runs: int) -> "HierarchicalWorlds":
        """Draw the truth of these runs."""
        dim, m, hierarchy = self.hierarchy.dim, self.num_tasks, self.hierarchy
        normals = rng.standard_normal((runs, 1 + m, dim))
        truth = hierarchy.hyper_mean + _with_cov(hierarchy.hyper_cov, normals[:, 0])
        if self.hyper is not None:
            truth = np.tile(np.asarray(self.hyper, float), (runs, 1))
        theta = truth[:, None] + _with_cov(hierarchy.task_cov, normals[:, 1:])
        sets = None
        if self.actions is not None and self.actions.per != "round":
            sets = self.actions.fixed_sets(rng, runs, m, dim)
        return HierarchicalWorlds(self, seed, first_run, truth, theta, sets)


class HierarchicalWorlds:
    """A chunk's runs of a HierarchicalBandit."""

    def __init__(
        self,
        bandit: HierarchicalBandit,
        seed: int,
        first_run: int,
        truth: Matrix,
        theta: Matrix,
        sets: Matrix | None,
    ) -> None:
        self.truth = truth  # (runs, d)
        self.theta = theta  # (runs, tasks, d)
        self.sets = sets  # (sets, K, d), or None if armed or if every event has its own set
        self._bandit = bandit
        self._first_run = first_run
        self._luck = Stream(seed, "reward")
        self._actions = Stream(seed, "actions")
        self._best = None if sets is None else self._best_of_fixed(sets)

    def offer(self, events: Events) -> Arms:
        """The arms of each event."""
        bandit, size = self._bandit, self._runs_of(events).size
        if bandit.actions is None:
            return Arms.of(None, size, bandit.hierarchy.dim, armed=True)
        if self.sets is None:
            return bandit.actions.fresh_sets(self._actions, events, bandit.hierarchy.dim)
        return Arms.grouped(self.sets, self._set_numbers(events))

    def play(self, events: Events, arms: Arms, choices: Indices) -> tuple[Vector, Vector]:
        """The reward and the regret of each event's choice."""
        bandit, run = self._bandit, self._runs_of(events)
        features = arms.features(choices)
        if len(features) != run.size or features.shape[1:] != self._shape_of_features:
            raise ValueError(f"arms must be those that were offered to {run.size} events")
        if bandit.actions is None:
            theta = self.theta[run, events.task]
            value, best = theta[np.arange(run.size), features], theta.max(axis=1)
        else:
            value = np.empty(run.size)
            linear_values(self.theta, run, events.task, features, value)
            if self._best is not None:
                best = self._best[run, events.task]
            else:
                every = arms.values(self.theta[run, events.task])
                best = every.reshape(run.size, -1).max(axis=1)
        family = bandit.rewards
        if isinstance(family, RewardFamily):
            uniforms = self._luck.uniforms(events, 1)[:, 0]
            rewards = family.draw(value, np.ones(run.size), uniforms)
            return rewards, family.mean(best) - family.mean(value)
        law: RewardLaw = "gaussian"
        if family == LINEAR_PROBABILITY:
            law, value, best = "bernoulli", np.clip(value, 0, 1), np.clip(best, 0, 1)
        noise_std = bandit.hierarchy.noise_std
        rewards = draw_rewards(law, value, noise_std, self._luck, events)
        return rewards, best - value

    @property
    def _shape_of_features(self) -> tuple[int, ...]:
        """What an arm's features are like."""
        return () if self._bandit.actions is None else self.theta.shape[2:]

    def _runs_of(self, events: Events) -> Indices:
        """The run of each event, counted from the first one here, (E,)."""
        return checked_events(events, self._first_run, *self.theta.shape[:2])

    def _set_numbers(self, events: Events) -> Indices:
        """Which of `sets` each event plays from, (E,)."""
        run = self._runs_of(events)
        assert self._bandit.actions is not None
        per_task = self._bandit.actions.per == "task"
        return run * self._bandit.num_tasks + events.task if per_task else run

    def _best_of_fixed(self, sets: Matrix) -> Matrix:
        """The value of the best arm of each run and task, (runs, tasks)."""
        runs, num_tasks, dim = self.theta.shape
        by_run = sets.reshape(runs, -1, sets.shape[1], dim)  # (runs, 1 or tasks, K, d)
        values = np.einsum(
            "rskd,rsd->rsk",
            np.broadcast_to(by_run, (runs, num_tasks, *by_run.shape[2:])),
            self.theta,
        )
        best: Matrix = values.max(axis=2)
        return best


def _family(rewards: str | RewardFamily) -> RewardFamily:
    if not isinstance(rewards, RewardFamily):
        one_of("rewards", rewards, [*FAMILIES, LINEAR_PROBABILITY])
    return checked_family(rewards)


def _with_cov(cov: Matrix, normals: Matrix) -> Matrix:
    """Vectors of this covariance, (..., d), from standard normals."""
    root = square_root(cov)
    return normals * root if root.ndim == 1 else normals @ root.T
