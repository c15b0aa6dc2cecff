"""Schedules: which tasks act in which round, the sets S_t of the paper."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from hierbandits.checks import count
from hierbandits.types import Indices, Vector

IDLE = -1
"""Stands in place of a task where a run has fewer events in a round than other runs."""


@dataclass(slots=True, eq=False)
class History:
    """What has happened in the runs of a chunk so far: all that a schedule may look at."""

    runs: int
    num_tasks: int
    num_interactions: int  # the most that a task may have
    rounds: int = 0
    counts: Indices = field(init=False)  # interactions so far, (runs, tasks)
    rewards: Vector = field(init=False)  # total reward so far, (runs, tasks)

    def __post_init__(self) -> None:
        shape = (self.runs, self.num_tasks)
        self.counts = np.zeros(shape, np.intp)
        self.rewards = np.zeros(shape)


class Schedule(Protocol):
    """Says which tasks act in each round."""

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """Yield the tasks of each round, (runs, size); IDLE fills the rows that are shorter.

        The simulator updates `history` after every round, before it asks for the next.  Nothing
        that is written into `history` reaches the simulator.
        """


@dataclass(frozen=True, slots=True)
class Sequential:
    """One task a round, in this order over and over; 0, 1, ..., m - 1 by default."""

    order: tuple[int, ...] = ()

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """A round for each interaction; a task that has had all its n interactions is skipped."""
        order = self.order or tuple(range(history.num_tasks))
        if not set(order) <= set(range(history.num_tasks)):
            raise ValueError(f"order must hold tasks below {history.num_tasks}, got {order}")
        for turn in range(history.num_interactions * len(order)):
            task = order[turn % len(order)]
            if history.counts[0, task] < history.num_interactions:
                yield np.full((history.runs, 1), task)


@dataclass(frozen=True, slots=True)
class MetaLearning:
    """One task a round, and all n interactions of a task before the next: S_t = {ceil(t / n)}."""

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """m n rounds."""
        for task in range(history.num_tasks):
            for _ in range(history.num_interactions):
                yield np.full((history.runs, 1), task)


@dataclass(frozen=True, slots=True)
class MultiTask:
    """One random task a round, among the tasks that have interactions left."""

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """m n rounds."""
        for _ in range(history.num_tasks * history.num_interactions):
            keys = rng.random(history.counts.shape)
            keys[history.counts >= history.num_interactions] = -1.0
            yield keys.argmax(axis=1)[:, None]


@dataclass(frozen=True, slots=True)
class Concurrent:
    """Rounds of `size` tasks: a random permutation of n copies of every task, cut into pieces.

    That is the paper's way, where a round may hold a task twice.  Without `repeats` the tasks of
    a round are distinct.
    """

    size: int
    repeats: bool = True

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """m n / size rounds, rounded up; the last may have fewer tasks."""
        if not 1 <= count("size", self.size) <= history.num_tasks:
            most = history.num_tasks
            raise ValueError(f"schedule's size must be from 1 to {most} tasks, got {self.size}")
        draw = self._order_with_repeats if self.repeats else self._order_without_repeats
        order = draw(rng, history)
        for start in range(0, order.shape[1], self.size):
            yield order[:, start : start + self.size]

    def _order_with_repeats(self, rng: Generator, history: History) -> Indices:
        """The tasks of all interactions of each run, (runs, m n), in a random order."""
        tasks = np.repeat(np.arange(history.num_tasks, dtype=np.int32), history.num_interactions)
        return rng.permuted(np.tile(tasks, (history.runs, 1)), axis=1)

    def _order_without_repeats(self, rng: Generator, history: History) -> Indices:
        """n random permutations of all tasks, one after another, (runs, m n).

        A round may begin in one permutation and end in the next.  Then the next one puts the tasks
        that the round already has behind all others.
        """
        m = history.num_tasks
        order = np.empty((history.runs, m * history.num_interactions), np.int32)
        rows = np.arange(history.runs)[:, None]
        for start in range(0, order.shape[1], m):
            keys = rng.random((history.runs, m))
            already = order[:, start - start % self.size : start]
            keys[rows, already] += 1.0
            order[:, start : start + m] = keys.argsort(axis=1)
        return order


@dataclass(frozen=True, slots=True)
class Federated:
    """Every task in every round."""

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """n rounds."""
        everyone = np.tile(np.arange(history.num_tasks), (history.runs, 1))
        for _ in range(history.num_interactions):
            yield everyone


@dataclass(frozen=True, slots=True)
class Arriving:
    """Tasks that arrive one by one, `gap` rounds apart, and act in the n rounds from then on."""

    gap: int

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """Rounds until the last task has acted n times; a round without a task is left out."""
        count("gap", self.gap, least=1)
        arrival = self.gap * np.arange(history.num_tasks)
        for t in range(int(arrival[-1]) + history.num_interactions):
            here = (arrival <= t) & (t < arrival + history.num_interactions)
            if here.any():
                yield np.tile(np.flatnonzero(here), (history.runs, 1))


@dataclass(frozen=True, slots=True)
class Custom:
    """Rounds that a function chooses: from the history it returns the next tasks, (runs, size).

    It returns None to end the study.
    """

    choose: Callable[[Generator, History], Indices | None]

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """As many rounds as the function chooses."""
        while (tasks := self.choose(rng, history)) is not None:
            yield tasks


def checked_round(tasks: ArrayLike, runs: int, num_tasks: int) -> Indices:
    """What a schedule yields: the tasks of a round, (runs, size), or IDLE."""
    array = np.asarray(tasks)
    sound = array.ndim == 2 and len(array) == runs and array.size > 0 and array.dtype.kind in "iu"
    if not sound or array.min() < IDLE or array.max() >= num_tasks:
        raise ValueError(
            f"schedule must give tasks below {num_tasks}, or IDLE, of shape ({runs}, any), got "
            f"{array!r:.80} of shape {array.shape}"
        )
    return np.ascontiguousarray(array, np.intp)


SCHEDULES: dict[str, Schedule] = {
    "sequential": Sequential(),
    "meta-learning": MetaLearning(),
    "multi-task": MultiTask(),
    "concurrent": Concurrent(5),
    "concurrent-distinct": Concurrent(5, repeats=False),
    "federated": Federated(),
    "arriving": Arriving(20),
}
"""The paper's settings and more, by name, at their usual sizes."""
