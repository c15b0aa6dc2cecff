"""Who acts: a policy is a belief and a rule, arrays in and arrays out."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.posterior import Posterior
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_widths import UnknownWidths
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
from hierbandits.policies.policy import Policy
from hierbandits.policies.rule import Rule
from hierbandits.policies.thompson_rule import thompson
from hierbandits.policies.ucb_rule import HIER_UCB_DELTA, LIN_UCB_WIDTH, ucb, ucb_width
from hierbandits.types import Indices


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
        *,
        population: ArrayLike | None = None,
    ) -> Policy:
        """A new policy; `truth` is the hyper-parameter of each population, (P, d).

        `population` is the population of each task, (tasks,), instead of `num_tasks`: see `Belief`.
        """
        if self.knows_truth and truth is None:
            raise ValueError("truth must be given: this policy knows the hyper-parameters, (P, d)")
        believed = self._believed(prior)
        shape = num_tasks if isinstance(num_tasks, tuple) else (num_tasks,)
        node_of: Indices | None = None
        if population is not None:
            shape = (0,)
            if believed.num_levels == 1:
                node_of = np.asarray(population, np.intp)
        elif believed.num_levels == 1:
            if prod(shape):
                node_of = np.repeat(np.arange(num_populations), prod(shape))
            shape = ()
        elif believed.num_levels < prior.num_levels:
            shape = (prod(shape),)
        belief: Posterior
        if isinstance(believed, UnknownWidths):
            belief = AdaptiveBelief(believed, shape, num_populations, population=population)
        else:
            means = truth if self.knows_truth else None
            belief = Belief(believed, shape, num_populations, means, population=population)
        forced = ForcedStart(np.zeros(belief.num_nodes, np.int32)) if self.forced else None
        return Policy(belief, self.rule, node_of=node_of, forced=forced)

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
        f"ridge UCB in each task alone, lambda = {RIDGE}, alpha = {LIN_UCB_WIDTH}",
    ),
}
