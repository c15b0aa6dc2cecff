"""Worlds that a log allows: tasks drawn from what is known of them after it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.environments.events import Events
from hierbandits.keyed_random import Stream
from hierbandits.learning.log_offers import LogOffers
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class LogWorlds:
    """Worlds with tasks of their own and a noise of their own: y ~ N(x @ theta, noise^2).

    The luck in a reward depends on the event alone, not on the policy that plays.
    """

    theta: Matrix  # (runs, tasks, d)
    noise_std: Vector  # of each world, (runs,)
    offers: LogOffers | None  # None if armed
    seed: int
    played: Indices | None = None  # the arms that are offered; None: all

    @property
    def runs(self) -> int:
        """The number of worlds."""
        return len(self.theta)

    @property
    def num_tasks(self) -> int:
        """The tasks that act in each world."""
        return int(self.theta.shape[1])

    def events(self, interaction: int) -> Events:
        """Every task of every world acts once."""
        run, task = np.divmod(np.arange(self.runs * self.num_tasks), self.num_tasks)
        return Events(run, task, np.full(run.size, interaction))

    def offer(self, events: Events) -> Arms:
        """The arms of each event."""
        dim = self.theta.shape[2]
        if self.offers is None:
            return Arms.of(self.played, events.run.size, dim, armed=True)
        return self.offers.sets(self.seed, events)

    def play(self, events: Events, arms: Arms, choices: Indices) -> tuple[Vector, Vector]:
        """The reward and the regret of each event's choice."""
        theta = self.theta[events.run, events.task]
        if self.offers is None:
            value = theta[np.arange(choices.size), arms.features(choices)]
            best = (theta if self.played is None else theta[:, self.played]).max(axis=1)
        else:
            value = (arms.features(choices) * theta).sum(axis=1)
            best = arms.values(theta).reshape(choices.size, -1).max(axis=1)
            best = np.maximum(best, value)  # but for rounding
        luck = Stream(self.seed, "reward").normals(events, 1)[:, 0]
        return value + self.noise_std[events.run] * luck, best - value


def drawn_tasks(
    rng: Generator,
    hierarchies: Sequence[GaussianHierarchy],
    sums: TaskSums,
    own: Indices,
    num_new: int,
    runs: int,
) -> tuple[Matrix, Matrix, Vector]:
    """Tasks of the log, (runs, own, d), new tasks, (runs, new, d), and the noise of each world.

    World r has hierarchy r of as many as there are, in turn.  Its mu and its tasks are a joint draw
    from the posterior given all sums.
    """
    thetas: list[Matrix] = [np.empty(0)] * runs
    for first, hierarchy in enumerate(hierarchies[:runs]):
        belief = Belief.from_sums(hierarchy, sums)
        new = belief.add(int(belief.roots[0]), num_new)
        nodes = np.concatenate([own, new])
        for run in range(first, runs, len(hierarchies)):
            thetas[run] = belief.sample(rng, nodes)
    theta = np.stack(thetas)
    noise = np.array([hierarchies[run % len(hierarchies)].noise_std for run in range(runs)])
    return theta[:, : own.size], theta[:, own.size :], noise
