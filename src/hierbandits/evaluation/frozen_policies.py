"""Frozen policies: probabilities over arms that the evaluated rows do not change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from hierbandits.evaluation.arm_posteriors import ArmPosteriors
from hierbandits.keyed_random import Stream
from hierbandits.logs import Survey
from hierbandits.types import Indices, Mask, Matrix, Name, Vector

CHUNK = 4_000_000  # numbers drawn at a time


class Frozen(Protocol):
    """Gives the probability of every arm, (n, K), in these tasks, (n,), with these arms, (n, K)."""

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """Rows that sum to one over the eligible arms."""


def evenly(tasks: Indices, eligible: Mask, /) -> Matrix:
    """Every eligible arm with the same probability."""
    shares: Matrix = eligible / eligible.sum(axis=1, keepdims=True)
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class OneArm:
    """Always the same arm."""

    survey: Survey
    arm: int

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """One for the arm, which must be eligible everywhere."""
        barred = np.flatnonzero(~eligible[:, self.arm])
        if barred.size:
            name, task = self.survey.arms[self.arm], self.survey.tasks[tasks[barred[0]]]
            raise ValueError(
                f"arm {name!r} must be eligible in every row to be always played, "
                f"got one of task {task!r} where it is not"
            )
        shares = np.zeros(eligible.shape)
        shares[:, self.arm] = 1.0
        return shares


@dataclass(frozen=True, slots=True, eq=False)
class HighestBound:
    """The arm of highest mean plus `width` standard deviations; equal ones share.

    A width of 0 is greedy.  A positive width makes an upper bound, and a negative one the lower
    bound of HierOPO.
    """

    bound: Matrix  # (rows, K)
    row: Indices  # the row of each task, (tasks,)

    @classmethod
    def of(cls, posteriors: ArmPosteriors, width: float) -> "HighestBound":
        """Frozen at these posteriors."""
        return cls(posteriors.prediction.bound(width), posteriors.row)

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """The best eligible arm."""
        bound = np.where(eligible, self.bound[self.row[tasks]], -np.inf)
        best = bound == bound.max(axis=1, keepdims=True)
        return evenly(tasks, best)


@dataclass(slots=True, eq=False)
class ThompsonShares:
    """Thompson sampling that has stopped learning: one of `draws` fixed posterior draws.

    A task's draws are a function of the seed and the task, so that this is one policy whatever
    the batches, and the share of draws in which an arm is best is its exact probability.
    """

    posteriors: ArmPosteriors
    draws: int
    stream: Stream
    _known: Matrix | None = field(default=None, init=False)  # all arms eligible; NaN: not yet

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """The share of draws in which each eligible arm is best."""
        shares = np.empty(eligible.shape)
        whole = eligible.all(axis=1)
        shares[~whole] = self._shares(tasks[~whole], eligible[~whole])
        if whole.any():
            if self._known is None:
                self._known = np.full((self.posteriors.row.size, eligible.shape[1]), np.nan)
            asked = np.unique(tasks[whole])
            new = asked[np.isnan(self._known[asked, 0])]
            self._known[new] = self._shares(new, np.ones((new.size, eligible.shape[1]), np.bool_))
            shares[whole] = self._known[tasks[whole]]
        return shares

    def _shares(self, tasks: Indices, eligible: Mask) -> Matrix:
        shares = np.zeros(eligible.shape)
        dim, draws = self.posteriors.belief.dim, self.draws
        step = max(1, CHUNK // (draws * max(dim, eligible.shape[1])))
        for start in range(0, tasks.size, step):
            part = slice(start, start + step)
            some = tasks[part]
            run, zero = np.tile(np.arange(draws), some.size), np.zeros(some.size * draws, np.intp)
            keys = (run, np.repeat(some, draws), zero)
            normals = self.stream.normals(keys, dim).reshape(some.size, draws, dim)
            values = self.posteriors.drawn(some, normals)  # (n, draws, K)
            values[~np.broadcast_to(eligible[part, None], values.shape)] = -np.inf
            best = values.argmax(axis=2)
            np.add.at(shares[part], (np.repeat(np.arange(some.size), draws), best.ravel()), 1.0)
        return shares / draws


@dataclass(slots=True, eq=False)
class FunctionPolicy:
    """A caller's function of a task and its eligible arms.

    It returns a probability for each of those arms: a mapping by name (absent ones are zero), or
    a sequence in their order.
    """

    survey: Survey
    name: str
    function: Callable[[Name, tuple[Name, ...]], Any]
    _known: dict[tuple[int, bytes], Vector] = field(default_factory=dict, init=False)

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """What the function answers, checked and remembered."""
        shares = np.empty(eligible.shape)
        for i, task in enumerate(tasks.tolist()):
            key = (task, np.packbits(eligible[i]).tobytes())
            if key not in self._known:
                self._known[key] = self._ask(task, eligible[i])
            shares[i] = self._known[key]
        return shares

    def _ask(self, task: int, eligible: Mask) -> Vector:
        places = np.flatnonzero(eligible)
        arms = tuple(self.survey.arms[place] for place in places)
        named = self.survey.tasks[task]
        answer, where = self.function(named, arms), f"policy {self.name!r} in task {named!r}"
        if isinstance(answer, Mapping):
            odd = [arm for arm in answer if arm not in arms and answer[arm] != 0]
            if odd:
                raise ValueError(f"{where} must play eligible arms alone, got {odd[0]!r}")
            answer = [answer.get(arm, 0.0) for arm in arms]
        try:
            given = np.asarray(answer, float)
        except (TypeError, ValueError):
            raise ValueError(f"{where} must give probabilities, got {answer!r:.80}") from None
        if given.shape != places.shape:
            raise ValueError(
                f"{where} must give one probability for each of {places.size} eligible arms, "
                f"got {answer!r:.80}"
            )
        if not (given >= 0).all() or abs(given.sum() - 1) > 1e-6:  # NaN is not >= 0
            raise ValueError(
                f"{where} must give probabilities that are not negative and sum to one, "
                f"got {given.tolist()!r:.80}, which sum to {given.sum():g}"
            )
        shares = np.zeros(eligible.size)
        shares[places] = given / given.sum()
        return shares
