"""The paper's own world: tasks drawn from a Gaussian hierarchy, linear or K-armed."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from hierbandits.algebra import square_root
from hierbandits.checks import count, real_array
from hierbandits.environments.action_sets import ActionSets, SampledActions
from hierbandits.kernels.tally import linear_values
from hierbandits.keyed_random import Events, Stream
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HierarchicalBandit:
    """mu_* ~ N(mu_q, Sigma_q) (or as given), theta_s ~ N(mu_*, Sigma_0), and rewards

        gaussian:   y ~ N(x @ theta_s, sigma^2)
        bernoulli:  y ~ Ber(x @ theta_s cut to [0, 1]), which a Gaussian prior misspecifies

    `believed` is what policies are told, the truth itself unless given.
    [HBB, eq. gaussian hierarchical]
    """

    hierarchy: GaussianHierarchy
    num_tasks: int
    actions: ActionSets | SampledActions | None = None
    rewards: Literal["gaussian", "bernoulli"] = "gaussian"
    hyper: Vector | None = None  # mu_*, (d,); drawn anew for each run if None
    believed: GaussianHierarchy | None = None

    def __post_init__(self) -> None:
        count("num_tasks", self.num_tasks, least=1)
        if self.hierarchy.num_levels != 2:
            raise ValueError(f"hierarchy must have two levels, got {self.hierarchy}")
        if self.hierarchy.is_armed == (self.actions is not None):
            raise ValueError("actions must be given for linear hierarchies and for them alone")
        if self.rewards not in ("gaussian", "bernoulli"):
            raise ValueError(f"rewards must be gaussian or bernoulli, got {self.rewards!r}")
        told = self.prior
        if (told.is_armed, told.dim) != (self.hierarchy.is_armed, self.hierarchy.dim):
            raise ValueError(f"believed must have the form of {self.hierarchy}, got {told}")
        if self.hyper is not None:
            real_array("hyper", self.hyper, (self.hierarchy.dim,))

    @property
    def prior(self) -> GaussianHierarchy:
        """What policies are told."""
        return self.hierarchy if self.believed is None else self.believed

    def worlds(self, rng: Generator, seed: int, first_run: int, runs: int) -> "HierarchicalWorlds":
        """Draw the truth of these runs."""
        dim, m, hierarchy = self.hierarchy.dim, self.num_tasks, self.hierarchy
        steps = rng.standard_normal((runs, 1 + m, dim))
        truth = hierarchy.hyper_mean + _drawn(hierarchy.hyper_cov, steps[:, 0])
        if self.hyper is not None:
            truth = np.tile(np.asarray(self.hyper, float), (runs, 1))
        theta = truth[:, None] + _drawn(hierarchy.task_cov, steps[:, 1:])
        sets = None
        if self.actions is not None and self.actions.per != "round":
            sets = self.actions.drawn(rng, runs, m, dim)
        return HierarchicalWorlds(self, seed, first_run, truth, theta, sets)


class HierarchicalWorlds:
    """A batch of runs of a HierarchicalBandit."""

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
        self.sets = sets  # (sets, K, d), or None if armed or fresh in every round
        self._bandit = bandit
        self._first = first_run
        self._noise = Stream(seed, "reward")
        self._actions = Stream(seed, "actions")
        self._best = None if sets is None else self._fixed_best(sets)

    def offer(self, events: Events) -> Arms:
        """The arms of each event."""
        bandit, size = self._bandit, events.run.size
        if bandit.actions is None:
            return Arms.of(None, size, bandit.hierarchy.dim, armed=True)
        if self.sets is None:
            return bandit.actions.fresh(self._actions, events, bandit.hierarchy.dim)
        return Arms.grouped(self.sets, self._set_of(events))

    def play(self, events: Events, arms: Arms, choices: Indices) -> tuple[Vector, Vector]:
        """The reward and the regret of each event's choice."""
        run = events.run - self._first
        if self._bandit.actions is None:
            theta = self.theta[run, events.task]
            value, best = theta[np.arange(run.size), choices], theta.max(axis=1)
        else:
            value = np.empty(run.size)
            linear_values(self.theta, run, events.task, arms.features(choices), value)
            if self._best is not None:
                best = self._best[run, events.task]
            else:
                every = arms.values(self.theta[run, events.task])
                best = every.reshape(run.size, -1).max(axis=1)
        if self._bandit.rewards == "bernoulli":
            value, best = np.clip(value, 0, 1), np.clip(best, 0, 1)
            luck = self._noise.uniforms(events, 1)[:, 0]
            return (luck < value).astype(float), best - value
        noise = self._noise.normals(events, 1)[:, 0]
        return value + self._bandit.hierarchy.noise_std * noise, best - value

    def _set_of(self, events: Events) -> Indices:
        run = events.run - self._first
        assert self._bandit.actions is not None
        per_task = self._bandit.actions.per == "task"
        return run * self._bandit.num_tasks + events.task if per_task else run

    def _fixed_best(self, sets: Matrix) -> Matrix:
        """The value of the best arm of each run and task, (runs, tasks)."""
        runs, num_tasks, dim = self.theta.shape
        by_run = sets.reshape(runs, -1, sets.shape[1], dim)  # one set for all tasks, or for each
        values = np.einsum(
            "rskd,rsd->rsk",
            np.broadcast_to(by_run, (runs, num_tasks, *by_run.shape[2:])),
            self.theta,
        )
        best: Matrix = values.max(axis=2)
        return best


def _drawn(cov: Matrix, normals: Matrix) -> Matrix:
    """Normals of this covariance from standard ones, (..., d)."""
    root = square_root(cov)
    return normals * root if root.ndim == 1 else normals @ root.T
