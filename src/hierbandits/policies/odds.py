"""How a rule chose in a round, and how probable that was."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Mask, Vector


class Odds(Protocol):
    """The choices of a rule in one round, and the probability of these and of others."""

    @property
    def choices(self) -> Indices:
        """The number of the arm that each event plays, (E,)."""

    def of(self, played: Indices) -> Vector:
        """How probable it was that the rule would choose these arms, one for each event, (E,)."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnOdds:
    """One of several rounds of choices, each as likely as the others, is played."""

    rounds: Indices  # (draws, E)
    choices: Indices  # the round that is played, (E,)

    @classmethod
    def of_rounds(cls, rounds: Indices, rng: Generator) -> "DrawnOdds":
        """Pick one of the rounds, (draws, E)."""
        return cls(rounds, rounds[rng.integers(len(rounds))])

    def of(self, played: Indices) -> Vector:
        """The share of rounds that choose each event's arm, exact given the rounds."""
        share: Vector = (self.rounds == played).mean(axis=0)
        return share


@dataclass(frozen=True, slots=True, eq=False)
class BestOdds:
    """The arm of highest score is played; of equal ones each is as likely."""

    arms: Arms
    is_best: Mask  # of each arm of each event, in the order of `Arms.flat_rows`
    choices: Indices  # (E,)

    @classmethod
    def of_scores(cls, scores: Vector, arms: Arms, rng: Generator) -> "BestOdds":
        """Score each arm of each event, in the order of `Arms.flat_rows`."""
        top = np.maximum.reduceat(scores, arms.offset[:-1]) if scores.size else scores
        return cls(arms, scores == np.repeat(top, arms.sizes), arms.best(scores, rng))

    def of(self, played: Indices) -> Vector:
        """One of an event's best arms shares with the others; any other has no chance."""
        sizes = self.arms.sizes
        event = np.repeat(np.arange(sizes.size), sizes)
        numbers = self.arms.flat_rows() - self.arms.base[event]
        hit = self.is_best & (numbers == played[event])
        ties = np.bincount(event, self.is_best, sizes.size)
        chance: Vector = np.bincount(event, hit, sizes.size) / ties
        return chance
