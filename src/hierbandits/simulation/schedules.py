"""Which tasks act in which round: the sets S_t of the paper, by name."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.random import Generator

from hierbandits.checks import count
from hierbandits.types import Indices, Vector

IDLE = -1
"""In place of a task: this run acts in fewer tasks in this round."""


@dataclass(slots=True, eq=False)
class History:
    """What a schedule may look at: all that has happened in a batch of runs so far."""

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
    """Yields the tasks of each round, (runs, width), with IDLE for none."""

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """The rounds of a batch of runs; `history` is up to date at each."""


@dataclass(frozen=True, slots=True)
class Sequential:
    """One task a round, in a given order over and over; in turn by default."""

    order: tuple[int, ...] = ()

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """As many rounds as m n; a task that has had its n interactions is passed over."""
        order = self.order or tuple(range(history.num_tasks))
        if not set(order) <= set(range(history.num_tasks)):
            raise ValueError(f"order must hold tasks below {history.num_tasks}, got {order}")
        for turn in range(history.num_interactions * len(order)):
            task = order[turn % len(order)]
            if history.counts[0, task] < history.num_interactions:
                yield np.full((history.runs, 1), task)


@dataclass(frozen=True, slots=True)
class MetaLearning:
    """One task after another, each to its end: S_t = {ceil(t / n)}."""

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """m n rounds."""
        for task in range(history.num_tasks):
            for _ in range(history.num_interactions):
                yield np.full((history.runs, 1), task)


@dataclass(frozen=True, slots=True)
class MultiTask:
    """One random task a round, among those with interactions left."""

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """m n rounds."""
        for _ in range(history.num_tasks * history.num_interactions):
            keys = rng.random(history.counts.shape)
            keys[history.counts >= history.num_interactions] = -1.0
            yield keys.argmax(axis=1)[:, None]


@dataclass(frozen=True, slots=True)
class Concurrent:
    """Batches of `size` tasks: the paper's random permutation of n copies of every task.

    A batch of the paper's may hold a task twice; with `repeats` false none does.
    """

    size: int
    repeats: bool = True

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """m n / size rounds; the last may be smaller."""
        if not 1 <= count("size", self.size) <= history.num_tasks:
            raise ValueError(f"size must be from 1 to {history.num_tasks} tasks, got {self.size}")
        order = self._shuffled(rng, history) if self.repeats else self._dealt(rng, history)
        for start in range(0, order.shape[1], self.size):
            yield order[:, start : start + self.size]

    def _shuffled(self, rng: Generator, history: History) -> Indices:
        tasks = np.repeat(np.arange(history.num_tasks, dtype=np.int32), history.num_interactions)
        return rng.permuted(np.tile(tasks, (history.runs, 1)), axis=1)

    def _dealt(self, rng: Generator, history: History) -> Indices:
        """Permutations of all tasks, end to end; one does not begin with the open batch's tasks."""
        m = history.num_tasks
        order = np.empty((history.runs, m * history.num_interactions), np.int32)
        rows = np.arange(history.runs)[:, None]
        for start in range(0, order.shape[1], m):
            keys = rng.random((history.runs, m))
            keys[rows, order[:, start - start % self.size : start]] += 1.0
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
    """Tasks that come one by one, `gap` rounds apart, and then act in every round."""

    gap: int

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """n rounds for each task, from its arrival on."""
        count("gap", self.gap, least=1)
        arrival = self.gap * np.arange(history.num_tasks)
        for t in range(int(arrival[-1]) + history.num_interactions):
            here = (arrival <= t) & (t < arrival + history.num_interactions)
            if here.any():
                yield np.tile(np.flatnonzero(here), (history.runs, 1))


@dataclass(frozen=True, slots=True)
class Custom:
    """A function of the history: the tasks of the next round, (runs, width), or None to end."""

    choose: Callable[[Generator, History], Indices | None]

    def rounds(self, rng: Generator, history: History) -> Iterator[Indices]:
        """Until the function says None."""
        while (tasks := self.choose(rng, history)) is not None:
            array = np.asarray(tasks)
            shaped = array.ndim == 2 and len(array) == history.runs and array.size > 0
            shaped = shaped and array.dtype.kind in "iu"
            if not shaped or array.min() < IDLE or array.max() >= history.num_tasks:
                raise ValueError(
                    f"choose must return tasks below {history.num_tasks}, or IDLE, of shape "
                    f"({history.runs}, any), got {array!r:.80}"
                )
            yield array


SCHEDULES: dict[str, Schedule] = {
    "sequential": Sequential(),
    "meta-learning": MetaLearning(),
    "multi-task": MultiTask(),
    "concurrent": Concurrent(5),
    "concurrent-distinct": Concurrent(5, repeats=False),
    "federated": Federated(),
    "arriving": Arriving(20),
}
"""The settings of the paper, by name, at their usual sizes."""
