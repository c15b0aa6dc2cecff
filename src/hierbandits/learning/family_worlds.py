"""Worlds that a log of a family allows."""

from dataclasses import dataclass

import numpy as np

from hierbandits.environments.events import Events
from hierbandits.keyed_random import Stream
from hierbandits.learning.log_worlds import LogWorlds
from hierbandits.models.reward_family import RewardFamily
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FamilyWorlds(LogWorlds):
    """Worlds whose rewards belong to a family, given linear predictors x @ theta."""

    family: RewardFamily

    def play(self, events: Events, arms: Arms, choices: Indices) -> tuple[Vector, Vector]:
        """The reward of each event's choice, and its regret in mean rewards."""
        theta = self.theta[events.run, events.task]
        if self.offers is None:
            eta = theta[np.arange(choices.size), arms.features(choices)]
            best = (theta if self.played is None else theta[:, self.played]).max(axis=1)
        else:
            eta = (arms.features(choices) * theta).sum(axis=1)
            best = arms.values(theta).reshape(choices.size, -1).max(axis=1)
            best = np.maximum(best, eta)  # but for rounding
        luck = Stream(self.seed, "reward").uniforms(events, 1)[:, 0]
        mean, highest = self.family.mean(eta), self.family.mean(best)
        return self.family.draw(eta, np.ones(eta.size), luck), highest - mean
