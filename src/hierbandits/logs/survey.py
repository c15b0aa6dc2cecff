"""A first look at a log: its names, its size, its propensities, and how to read it again."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.keyed_random import Stream
from hierbandits.logs import Batch, Log, RowSample, Spread
from hierbandits.types import Indices, Mask, Name, Vector

RARE = 0.01
"""Propensities below this one are counted: a row weighs a hundred times its target probability."""

SKETCH = 20_000  # times kept to find the one that splits a log


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows of an armed log, their tasks and arms numbered once and for all."""

    number: Indices  # (E,) the row in the log
    tasks: Indices  # (E,)
    arms: Indices  # (E,)
    rewards: Vector  # (E,)
    propensities: Vector | None  # (E,)
    eligible: Mask | None  # (E, K); None if all arms are
    times: NDArray[Any] | None  # (E,)

    def only(self, chosen: Mask | Indices | slice) -> "Rows":
        """These rows of them."""

        def part(values: Any) -> Any:
            return None if values is None else values[chosen]

        return Rows(*(part(getattr(self, name)) for name in Rows.__slots__))

    def then(self, other: "Rows") -> "Rows":
        """Both, one after the other."""

        def joined(one: Any, two: Any) -> Any:
            return None if one is None else np.concatenate([one, two])

        return Rows(*(joined(getattr(self, n), getattr(other, n)) for n in Rows.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """What one pass finds out about a log, and all that later passes need to know."""

    log: Log
    tasks: tuple[Name, ...]
    arms: tuple[Name, ...]
    num_populations: int
    width: int  # tasks of the largest population; the others have as many in a belief, some spare
    node: Indices  # the task's number in a belief, population by population, (tasks,)
    num_rows: int
    uniform: bool  # whether the log's arms were drawn uniformly, by the caller's word
    least: float | None  # the least propensity
    rare: int  # rows of propensity below RARE
    is_ordered: bool  # whether times never fall from row to row
    times: NDArray[Any] | None = field(repr=False)  # those of some rows, sorted

    @classmethod
    def of(cls, log: Log, *, uniform: bool = False) -> "Survey":
        """Look at every row once."""
        if not isinstance(log, Log):
            raise ValueError(f"log must be an hb.Log, got {log!r:.80}")
        if log.columns.arm is None:
            raise ValueError(
                "log must have a column of arms: features alone do not tell which other arms "
                "could have been played; name the arms, and give arm_features={arm: features}"
            )
        if uniform and log.columns.propensity is not None:
            raise ValueError(
                "uniform must be False if the log has propensities, got True with the column "
                f"{log.columns.propensity!r}"
            )
        propensities, times, spread = _Propensities(), _Times(), Spread()
        for batch in log.batches():
            spread.add(batch.rewards)
            propensities.add(batch.propensities)
            times.add(batch)
        spread.check()
        names = batch.names
        num_arms, least = len(names.arms), propensities.least
        if uniform:
            least = 1 / num_arms
        width, node = _places(names.population, len(names.populations))
        return cls(
            log, tuple(names.tasks), tuple(names.arms), len(names.populations), width, node,
            batch.first_row + batch.tasks.size, uniform, least, propensities.rare,
            times.is_ordered, times.sorted(),
        )  # fmt: skip

    @property
    def num_tasks(self) -> int:
        """The tasks that occur."""
        return len(self.tasks)

    @property
    def num_nodes(self) -> int:
        """The tasks of a belief, spare ones included."""
        return self.num_populations * self.width

    @property
    def population_of_nodes(self) -> Indices:
        """The population of each task of a belief, (num_nodes,)."""
        return np.repeat(np.arange(self.num_populations), self.width)

    @property
    def has_propensities(self) -> bool:
        """Whether the probability of every logged choice is known."""
        return self.least is not None

    def rows(self) -> Iterator[Rows]:
        """The rows again, batch by batch."""
        num_arms = len(self.arms)
        for batch in self.log.batches():
            eligible, propensities = batch.eligible, batch.propensities
            if eligible is not None and eligible.shape[1] < num_arms:  # arms first met later
                missing = num_arms - eligible.shape[1]
                eligible = np.pad(eligible, ((0, 0), (0, missing)))
            if self.uniform:
                size = num_arms if eligible is None else eligible.sum(axis=1)
                propensities = np.full(batch.tasks.size, 1.0) / size
            number = batch.first_row + np.arange(batch.tasks.size)
            yield Rows(
                number, batch.tasks, np.asarray(batch.features, np.intp), batch.rewards,
                propensities, eligible, batch.times,
            )  # fmt: skip


class _Propensities:
    """The least propensity, and how many are small."""

    def __init__(self) -> None:
        self.least: float | None = None
        self.rare = 0

    def add(self, propensities: Vector | None) -> None:
        if propensities is not None:
            least = float(propensities.min())
            self.least = least if self.least is None else min(self.least, least)
            self.rare += int((propensities < RARE).sum())


class _Times:
    """Whether times are in order, and those of SKETCH rows."""

    def __init__(self) -> None:
        self.is_ordered = True
        self._sample = RowSample(Stream(0, "times"), SKETCH)
        self._last: Any = None

    def add(self, batch: Batch) -> None:
        times = batch.times
        if times is None:
            return
        before = times if self._last is None else np.append(self._last, times)
        self.is_ordered &= bool((before[1:] >= before[:-1]).all())
        self._last = times[-1:]
        self._sample.add(batch.first_row, times)

    def sorted(self) -> NDArray[Any] | None:
        times = self._sample.values
        return None if times is None else np.sort(times)


def _places(population: Indices, num_populations: int) -> tuple[int, Indices]:
    """The size of the largest population, and each task's place if all had that size."""
    sizes = np.bincount(population, minlength=num_populations)
    width, order = int(sizes.max()), np.argsort(population, kind="stable")
    place = np.empty(population.size, np.intp)
    place[order] = np.arange(population.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return width, population * width + place
