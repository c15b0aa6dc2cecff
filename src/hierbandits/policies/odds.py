"""How a rule chose in a round, and how probable that was."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

from hierbandits.kernels.random_bounds import chances
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Mask, Matrix, Vector


class Odds(Protocol):
    """The choices of a rule in one round, and the probability of these and of others."""

    @property
    def choices(self) -> Indices:
        """The number of the arm that each event plays, (E,)."""

    def of(self, played: Indices) -> Vector:
        """How probable it was that the rule would choose these arms, one for each event, (E,)."""

    @property
    def is_shared(self) -> bool:
        """Whether events of the round share their luck: the choice of one tells of another's."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnOdds:
    """One of several rounds of choices, each as likely as the others, is played."""

    rounds: Indices  # (draws, E)
    played: int  # the round that is played

    @classmethod
    def of_rounds(cls, rounds: Indices, rng: Generator) -> "DrawnOdds":
        """Pick one of the rounds, (draws, E)."""
        return cls(rounds, int(rng.integers(len(rounds))))

    @property
    def choices(self) -> Indices:
        """The number of the arm that each event plays, (E,)."""
        choices: Indices = self.rounds[self.played]
        return choices

    @property
    def is_shared(self) -> bool:
        """All events play the same one of the rounds."""
        return True

    def of(self, played: Indices) -> Vector:
        """The share of rounds that choose each event's arm, exact given the rounds."""
        share: Vector = (self.rounds == _checked(played, self.choices)).mean(axis=0)
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
        checked = arms.checked_scores(scores)
        top = np.maximum.reduceat(checked, arms._own_offset[:-1]) if checked.size else checked
        return cls(arms, checked == np.repeat(top, arms.sizes), arms.best(checked, rng))

    @property
    def is_shared(self) -> bool:
        """Each event has luck of its own."""
        return False

    def of(self, played: Indices) -> Vector:
        """One of an event's best arms shares with the others; any other has no chance."""
        sizes = self.arms.sizes
        event = np.repeat(np.arange(sizes.size), sizes)
        numbers = self.arms.flat_rows() - self.arms.base[event]
        hit = self.is_best & (numbers == _checked(played, self.choices)[event])
        ties = np.bincount(event, self.is_best, sizes.size)
        chance: Vector = np.bincount(event, hit, sizes.size) / ties
        return chance


@dataclass(frozen=True, slots=True, eq=False)
class PairOdds:
    """One of two arms is played."""

    pair: Indices  # (2, E); both the same where an arm is played for certain
    share: Vector  # of the first, (E,)
    choices: Indices  # (E,)

    @classmethod
    def of_mixture(cls, pair: Indices, share: Vector, rng: Generator) -> "PairOdds":
        """Pick the first arm of each event with the probability `share`."""
        first, second = pair
        return cls(pair, share, np.where(rng.random(share.size) < share, first, second))

    @property
    def is_shared(self) -> bool:
        """Each event has luck of its own."""
        return False

    def of(self, played: Indices) -> Vector:
        """The shares of the two arms; any other has no chance."""
        first, second = self.pair == _checked(played, self.choices)
        chance: Vector = first * self.share + second * (1 - self.share)
        return chance


@dataclass(frozen=True, slots=True, eq=False)
class RandomBoundOdds:
    """The arm of highest bound is played, where arms draw the widths of their bounds."""

    arms: Arms
    ends: Matrix  # the lowest and the highest bound of each arm, in the order of `flat_rows`
    choices: Indices  # (E,)

    @property
    def is_shared(self) -> bool:
        """Each event has luck of its own."""
        return False

    def of(self, played: Indices) -> Vector:
        """The probability that each event's arm has the highest bound."""
        numbers = _checked(played, self.choices)
        arms, events = self.arms, np.arange(numbers.size)
        within = np.arange(self.ends.shape[1]) - np.repeat(arms._own_offset[:-1], arms.sizes)
        known = arms.flat_rows() - np.repeat(arms._own_base, arms.sizes)
        event = np.repeat(events, arms.sizes)
        places = np.zeros(numbers.size, np.intp)
        hit = known == numbers[event]
        places[event[hit]] = within[hit]
        chance = np.empty(numbers.size)
        chances(self.ends, arms._own_offset, events, places, chance)
        chance[np.bincount(event, hit, numbers.size) == 0] = 0.0  # of arms that the event has not
        return chance


def _checked(played: Indices, choices: Indices) -> Indices:
    """The arms that are asked about, one for each event."""
    numbers = np.asarray(played)
    if numbers.dtype.kind not in "iu" or numbers.shape != choices.shape:
        raise ValueError(
            f"played must be integers of shape {choices.shape}, one for each event, got "
            f"{numbers.dtype} of shape {numbers.shape}"
        )
    return numbers


def propensities_of_all(odds: Odds, arms: Arms, floor: float) -> list[list[float]]:
    """For each event how probable each of its arms was, a share `floor` of events being random.

    Choices of events are independent given these numbers.  Where events share their luck, only
    the first that has a choice has numbers; the others have none.
    """
    sizes = arms.sizes
    first = int(np.argmax(sizes > 1)) if odds.is_shared and sizes.size else None
    table = np.array(
        [odds.of(arms.numbers(np.minimum(i, sizes - 1))) for i in range(int(sizes.max(initial=0)))]
    )
    mixed = (1 - floor) * table + floor / sizes
    return [
        mixed[:size, event].tolist() if first is None or event == first else []
        for event, size in enumerate(sizes.tolist())
    ]


def without_support(odds: Odds, arms: Arms) -> list[Indices]:
    """The numbers of the arms of each event that a rule had no chance to choose.

    A log of its decisions says nothing of them, unless there is a floor.
    """
    sizes = arms.sizes
    never: list[list[int]] = [[] for _ in sizes]
    for place in range(int(sizes.max(initial=0))):
        numbers = arms.numbers(np.minimum(place, sizes - 1))
        for event in np.flatnonzero((odds.of(numbers) == 0) & (place < sizes)):
            never[event].append(int(numbers[event]))
    return [np.array(numbers, np.intp) for numbers in never]
