"""The posterior of every task of a belief, in arrays."""

from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import times, transposed
from hierbandits.beliefs.belief import Belief
from hierbandits.types import Indices, Matrix


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaskPosteriors:
    """All that a belief of two levels knows; covariances are (K,) if its are diagonals.

    theta_s | mu_p ~ N(own_s + gain_s mu_p, within_s)        p the population of task s
    mu_p           ~ N(hyper_mean_p, hyper_cov_p)
    """

    population: Indices  # of each task, (tasks,)
    own: Matrix  # t_s, (tasks, d)
    within: Matrix  # P_s, (tasks, d, d)
    gain: Matrix  # K_s = P_s Sigma_0^-1, (tasks, d, d)
    hyper_mean: Matrix  # (P, d)
    hyper_cov: Matrix  # (P, d, d)

    @classmethod
    def of(cls, belief: Belief) -> "TaskPosteriors":
        """Read a belief; tasks are in the order of their ids."""
        if belief.num_levels != 2:
            raise ValueError(f"belief must have two levels, got {belief.num_levels}")
        nodes, forest = belief._nodes, belief._nodes.forest
        tasks = np.flatnonzero(forest.parent[: forest.size] >= 0)
        own, within, gain = nodes.given_parents(tasks)
        hyper_mean, hyper_cov = nodes.root_moments(slice(None))
        return cls(
            population=forest.populations(tasks),
            own=own,
            within=within,
            gain=gain,
            hyper_mean=hyper_mean,
            hyper_cov=hyper_cov,
        )

    @property
    def is_diagonal(self) -> bool:
        """Whether covariances are diagonals."""
        return self.within.ndim == 2

    @property
    def means(self) -> Matrix:
        """The posterior means of the tasks' parameters, (tasks, d)."""
        return self.own + times(self.gain, self.hyper_mean[self.population])

    @property
    def covs(self) -> Matrix:
        """The posterior covariances of the tasks' parameters, (tasks, d, d)."""
        above = self.hyper_cov[self.population]
        if self.is_diagonal:
            return self.within + self.gain**2 * above
        return self.within + self.gain @ above @ transposed(self.gain)
