"""Nodes of a forest whose tasks hold sums of rewards and of exposures, arm by arm."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hierbandits.beliefs.forms import DIAGONAL
from hierbandits.beliefs.nodes import Nodes
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Indices


class CountNodes(Nodes):
    """Populations and their tasks, which grow and are saved as those of Gaussian arms are.

    state[node] holds the sum of each arm's rewards, and of their exposures; roots[p, 0] what the
    log weights of each arm's grid leave out.  The hierarchy has the same form, and says nothing.
    """

    def __init__(self, num_arms: int) -> None:
        super().__init__(counted_form(num_arms), DIAGONAL)

    def plant_counts(
        self, num_populations: int, children: tuple[int, ...], population: Indices | None
    ) -> None:
        """New populations, each with so many tasks, or with the tasks of `population`."""
        zeros = np.zeros((num_populations, self.dim))
        self.plant([counted_form(self.dim)], zeros, children, population)
        self.roots[:] = 0.0

    def forget(self, nodes: Indices) -> None:
        """Let nodes have no rewards."""
        self.state[nodes] = 0.0

    def check_changes(
        self, family: RewardFamily, events: Iterable[tuple[int, Any, float, float]]
    ) -> None:
        """Raise an error unless rewards of nodes' arms, old and new, can change one by one."""
        totals: dict[tuple[int, Any], float] = {}
        for node, arm, old, new in events:
            had, over = self.state[node, :2, arm].tolist()
            had = totals.get((node, arm), had)
            if over < 1 or had < old:
                raise ValueError(f"old_reward must be one that the task has had, got {old!r}")
            totals[node, arm] = had + (new - old)
            after = np.array([totals[node, arm]])
            family.check_totals("old_reward's sum", after, np.array([over]))


def counted_form(num_arms: int) -> GaussianHierarchy:
    """A hierarchy of as many arms and as many levels."""
    return GaussianHierarchy.armed(num_arms, hyper_std=1.0, task_std=1.0, noise_std=1.0)
