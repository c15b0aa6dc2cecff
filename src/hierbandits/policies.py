"""Who acts: a policy is a belief and a rule, arrays in and arrays out."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from hierbandits.adaptive import AdaptiveBelief
from hierbandits.arms import Arms
from hierbandits.arrays import Indices, Vector, count, index_array
from hierbandits.belief import Belief
from hierbandits.exploration import ForcedStart
from hierbandits.gaussian import Prediction
from hierbandits.hierarchy import GaussianHierarchy
from hierbandits.posterior import Posterior
from hierbandits.rules import Rule, greedy, thompson, thompson_with_propensities, ucb, ucb_width
from hierbandits.widths import UnknownWidths

HIER_UCB_DELTA = 0.05
LIN_UCB_RIDGE = 1.0  # lambda
LIN_UCB_WIDTH = 1.0  # alpha


class Policy:
    """Acts in any number of tasks and runs at once, and learns from their rewards."""

    def __init__(
        self,
        belief: Posterior,
        rule: Rule,
        *,
        tasks_per_node: int = 1,
        forced: ForcedStart | None = None,
    ) -> None:
        self.belief = belief
        self.rule = rule
        self.forced = forced
        self._tasks_per_node = tasks_per_node  # more than one when tasks are pooled

    def act(
        self, rng: Generator, tasks: ArrayLike, arms: Any = None, eligible: Any = None
    ) -> Indices:
        """The arm numbers, (E,), of one round over these tasks.

        Arms are (K, d) for all, (E, K, d), a sequence of sets, or None when armed; see `Arms.of`.
        """
        return self.choose(rng, *self._round(tasks, arms, eligible))

    def choose(self, rng: Generator, nodes: Indices, arms: Arms) -> Indices:
        """`act` on arrays that were checked before."""
        choices = self.rule(self.belief, rng, nodes, arms)
        if self.forced is not None:
            self.forced.apply(nodes, arms, choices)
        return choices

    def act_with_propensities(
        self,
        rng: Generator,
        tasks: ArrayLike,
        arms: Any = None,
        eligible: Any = None,
        *,
        draws: int,
        floor: float = 0.0,
    ) -> tuple[Indices, Vector]:
        """`act` of a Thompson policy, with the probability of each choice; see the rule."""
        self.check_propensities(draws, floor)
        nodes, table = self._round(tasks, arms, eligible)
        choices, propensities = thompson_with_propensities(
            self.belief, rng, nodes, table, draws=draws, floor=floor
        )
        if self.forced is not None:
            propensities[self.forced.apply(nodes, table, choices)] = 1.0
        return choices, propensities

    def check_propensities(self, draws: int, floor: float) -> None:
        """Raise if this policy cannot say propensities, or not in this way."""
        if self.rule is not thompson:
            raise ValueError(f"draws needs a policy of the thompson rule, got {self.rule}")
        count("draws", draws, least=1)
        if not 0 <= floor <= 1:
            raise ValueError(f"floor must be in [0, 1], got {floor}")

    def predict(self, tasks: ArrayLike, features: ArrayLike) -> Prediction:
        """The posterior of each event's mean reward."""
        return self.belief.predict(self._nodes(tasks), features)

    def learn(self, tasks: ArrayLike, features: ArrayLike, rewards: ArrayLike) -> None:
        """Learn rewards, now or later, in any order."""
        self.belief.observe(self._nodes(tasks), features, rewards)

    def _round(self, tasks: ArrayLike, arms: Any, eligible: Any) -> tuple[Indices, Arms]:
        nodes = self._nodes(tasks)
        belief = self.belief
        return nodes, Arms.of(
            arms, nodes.size, belief.dim, armed=belief.is_armed, eligible=eligible
        )

    def _nodes(self, tasks: ArrayLike) -> Indices:
        """The nodes of these tasks, checked; nodes above the tasks are none."""
        stop = self.belief.num_nodes * self._tasks_per_node
        nodes = index_array("tasks", tasks, stop, "tasks")
        if self._tasks_per_node > 1:
            nodes = nodes // self._tasks_per_node
        self.belief.check_leaves(nodes)
        return nodes


def as_given(prior: GaussianHierarchy) -> GaussianHierarchy:
    """The hierarchy itself."""
    return prior


def known_mean(prior: GaussianHierarchy) -> GaussianHierarchy:
    """The hierarchy of one who is told mu: hyper_cov is zero."""
    return prior.with_levels(prior.hyper_mean, [np.zeros_like(prior.hyper_cov), *prior.covs[1:]])


def marginal(prior: GaussianHierarchy) -> GaussianHierarchy:
    """Independent tasks, each with its marginal prior N(mu_q, Sigma_q + Sigma_0)."""
    covs = [np.zeros_like(prior.hyper_cov), sum(prior.covs[1:], prior.hyper_cov)]
    return prior.with_levels(prior.hyper_mean, covs)


def pooled(prior: GaussianHierarchy) -> GaussianHierarchy:
    """One parameter for all tasks of a population, with a task's marginal prior."""
    return prior.with_levels(prior.hyper_mean, [sum(prior.covs[1:], prior.hyper_cov)])


def ridge(prior: GaussianHierarchy) -> GaussianHierarchy:
    """Ridge regression in each task: N(0, I / lambda) in units of the noise."""
    one = np.ones(prior.dim) if prior.is_armed else np.eye(prior.dim)
    covs = [np.zeros_like(one), one / LIN_UCB_RIDGE]
    return prior.with_levels(np.zeros(prior.dim), covs, noise_std=1.0)


def unknown_widths(prior: GaussianHierarchy, *, noise_known: bool = False) -> UnknownWidths:
    """The hierarchy's form and hyper-mean alone; with `noise_known`, its noise too."""
    noise = prior.noise_std if noise_known else None
    return UnknownWidths.of(
        prior.dim, armed=prior.is_armed, noise_std=noise, hyper_mean=prior.hyper_mean
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named algorithm: the hierarchy it believes in and the rule it chooses by."""

    believe: Callable[[GaussianHierarchy], GaussianHierarchy | UnknownWidths]
    rule: Rule
    summary: str
    forced: bool = False
    knows_truth: bool = False

    def __call__(
        self,
        prior: GaussianHierarchy | UnknownWidths,
        num_tasks: int | tuple[int, ...] = 0,
        num_populations: int = 1,
        truth: ArrayLike | None = None,
    ) -> Policy:
        """A new policy; `truth` is the hyper-parameter of each population, (P, d)."""
        if self.knows_truth and truth is None:
            raise ValueError("truth must be given: this policy knows the hyper-parameters, (P, d)")
        believed = self._believed(prior)
        shape = num_tasks if isinstance(num_tasks, tuple) else (num_tasks,)
        per_node = 1
        if believed.num_levels == 1:
            shape, per_node = (), max(1, prod(shape))
        elif believed.num_levels < prior.num_levels:
            shape = (prod(shape),)
        belief: Posterior
        if isinstance(believed, UnknownWidths):
            belief = AdaptiveBelief(believed, shape, num_populations)
        else:
            means = truth if self.knows_truth else None
            belief = Belief(believed, shape, num_populations, means)
        forced = ForcedStart(np.zeros(belief.num_nodes, np.int32)) if self.forced else None
        return Policy(belief, self.rule, tasks_per_node=per_node, forced=forced)

    def _believed(
        self, prior: GaussianHierarchy | UnknownWidths
    ) -> GaussianHierarchy | UnknownWidths:
        if isinstance(prior, GaussianHierarchy):
            return self.believe(prior)
        if self.believe not in (as_given, unknown_widths):
            raise ValueError(f"prior must be a GaussianHierarchy for this policy, got {prior}")
        return prior


POLICIES: dict[str, Recipe] = {
    "HierTS": Recipe(as_given, thompson, "hierarchical Thompson sampling, the paper's algorithm"),
    "HierTS-forced": Recipe(
        as_given, thompson, "HierTS after a spanning set of arms in every task", forced=True
    ),
    "AdaptiveHierTS": Recipe(
        unknown_widths, thompson, "HierTS that learns the widths and the noise as it goes"
    ),
    "TS": Recipe(marginal, thompson, "Thompson sampling in each task alone, marginal prior"),
    "OracleTS": Recipe(
        known_mean, thompson, "Thompson sampling told the hyper-parameter", knows_truth=True
    ),
    "PooledTS": Recipe(pooled, thompson, "Thompson sampling as if all tasks were one"),
    "HierUCB": Recipe(
        as_given,
        partial(ucb, width=ucb_width(HIER_UCB_DELTA)),
        f"HierBayesUCB: hierarchical posterior, upper bound at delta = {HIER_UCB_DELTA}",
    ),
    "HierGreedy": Recipe(as_given, greedy, "hierarchical posterior mean, no exploration"),
    "LinUCB": Recipe(
        ridge,
        partial(ucb, width=LIN_UCB_WIDTH),
        f"ridge UCB in each task alone, lambda = {LIN_UCB_RIDGE}, alpha = {LIN_UCB_WIDTH}",
    ),
}
