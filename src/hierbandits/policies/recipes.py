"""The named policies: the hierarchy that each believes in, and the rule that it chooses by."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.beliefs.model_kinds import belief_in, kind_of
from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import count, real_array
from hierbandits.models.model import Model
from hierbandits.models.variants import (
    RIDGE,
    as_given,
    known_mean,
    marginal,
    pooled,
    ridge,
    unknown_widths,
)
from hierbandits.policies.forced_start import ForcedStart
from hierbandits.policies.greedy_rule import greedy
from hierbandits.policies.ids_rule import Ids
from hierbandits.policies.policy import Policy
from hierbandits.policies.rule import Rule
from hierbandits.policies.thompson_rule import Thompson, thompson
from hierbandits.policies.ucb_rule import (
    HIER_UCB_DELTA,
    LIN_UCB_WIDTH,
    RANDOM_GROWTH,
    RANDOM_JITTER,
    RANDOM_WIDTH,
    Ucb,
    ucb_width,
)
from hierbandits.types import Indices


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make a policy: the model it believes in, made of the prior, and its rule."""

    believe: Callable[[Any], Model]  # a function of the prior; see `variants`
    rule: Rule
    summary: str
    forced: bool = False  # whether every task plays its spanning arms first
    knows_truth: bool = False  # whether it is told the hyper-parameters
    make: Callable[..., Posterior] = belief_in  # the belief in that model

    def __call__(
        self,
        prior: Model,
        num_tasks: int | tuple[int, ...] = 0,
        num_populations: int = 1,
        truth: ArrayLike | None = None,
        *,
        population: ArrayLike | None = None,
    ) -> Policy:
        """A new policy.  `truth` is the hyper-parameter of each population, (P, d).

        Populations have `num_tasks` tasks each; where they differ in size, `population` is the
        population of each task, (tasks,), in place of `num_tasks`.
        """
        if self.knows_truth and truth is None:
            raise ValueError("truth must be given: this policy knows the hyper-parameters, (P, d)")
        believed = self.believe(prior)
        kind_of(believed)  # or an error
        counts = num_tasks if isinstance(num_tasks, tuple) else (num_tasks,)
        size = prod(count("num_tasks", number) for number in counts)  # tasks of a population
        if population is not None and size:
            raise ValueError(f"num_tasks must not be given with population, got {num_tasks!r}")
        is_pooled = believed.num_levels == 1
        if is_pooled:
            num_tasks = 0  # tasks have no nodes of their own
        elif believed.num_levels < prior.num_levels:
            num_tasks = size
        means = None
        if self.knows_truth and truth is not None:
            number = count("num_populations", num_populations, least=1)
            means = real_array("truth", truth, (number if population is None else None, prior.dim))
        belief = self.make(believed, num_tasks, num_populations, means, population=population)
        node_of = _pooled_nodes(belief, size, population) if is_pooled else None
        forced = ForcedStart(np.zeros(belief.num_nodes, np.int32)) if self.forced else None
        return Policy(belief, self.rule, node_of=node_of, forced=forced)


def _pooled_nodes(belief: Posterior, size: int, population: ArrayLike | None) -> Indices | None:
    """The root of each task's population; None if no tasks are given: then roots are the tasks."""
    if population is not None:
        nodes: Indices = belief.roots[np.asarray(population, np.intp)]
        return nodes
    return np.repeat(belief.roots, size) if size else None


POLICIES: dict[str, Recipe] = {
    "HierTS": Recipe(as_given, thompson, "hierarchical Thompson sampling, the paper's algorithm"),
    "HierTS-fresh": Recipe(
        as_given, Thompson(fresh=True), "HierTS in which every task of a round draws its own mean"
    ),
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
        Ucb(ucb_width(HIER_UCB_DELTA)),
        f"HierBayesUCB: hierarchical posterior, upper bound at delta = {HIER_UCB_DELTA}",
    ),
    "HierRandUCB": Recipe(
        as_given,
        Ucb(RANDOM_WIDTH, RANDOM_JITTER, RANDOM_GROWTH),
        "upper bounds whose widths arms draw, wider where an arm is less known than others",
    ),
    "HierIDS": Recipe(as_given, Ids(), "information-directed sampling, hierarchical posterior"),
    "HierGreedy": Recipe(as_given, greedy, "hierarchical posterior mean, no exploration"),
    "LinUCB": Recipe(
        ridge,
        Ucb(LIN_UCB_WIDTH),
        f"ridge UCB in each task alone, lambda = {RIDGE}, alpha = {LIN_UCB_WIDTH}",
    ),
}
"""The named policies: what each believes in, and how it chooses."""


def name_of(recipe: Recipe) -> str | None:
    """The name of a recipe of POLICIES; None for any other recipe."""
    return next((name for name, known in POLICIES.items() if known is recipe), None)


USUAL = "HierIDS"
"""The policy of an agent that is given none: see docs/choosing.md."""
