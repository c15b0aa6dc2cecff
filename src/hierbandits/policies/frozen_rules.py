"""Rules that have stopped learning: the probabilities of all arms at beliefs that stay."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import index_array
from hierbandits.kernels.random_bounds import bound_ends, chances
from hierbandits.keyed_random import Stream
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.types import Indices, Mask, Matrix

CHUNK = 4_000_000  # numbers drawn at a time


class Frozen(Protocol):
    """Gives the probability of every arm, (n, K), in these tasks, (n,), with these arms, (n, K)."""

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """Rows that sum to one over the eligible arms."""


def _checked_offer(
    tasks: Indices, eligible: Mask, num_tasks: int, num_arms: int
) -> tuple[Indices, Mask]:
    """Tasks, (n,), and the arms that each may play, (n, K): one at least."""
    checked = index_array("tasks", tasks, num_tasks, "tasks")
    mask = np.asarray(eligible)
    if mask.dtype != np.bool_ or mask.shape != (checked.size, num_arms):
        raise ValueError(
            f"eligible must be booleans of shape ({checked.size}, {num_arms}), got {mask.dtype} of "
            f"shape {mask.shape}"
        )
    if not mask.any(axis=1).all():
        raise ValueError(
            f"eligible must leave an arm, got none for row {mask.any(axis=1).argmin()}"
        )
    return checked, np.ascontiguousarray(mask)


def evenly(tasks: Indices, eligible: Mask, /) -> Matrix:
    """Every eligible arm with the same probability."""
    shares: Matrix = eligible / eligible.sum(axis=1, keepdims=True)
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class HighestBound:
    """The arm of highest mean plus `width` standard deviations; equal ones share.

    A width of 0 is greedy.  A positive width makes an upper bound, and a negative one a lower
    bound.
    """

    bound: Matrix  # (rows, K)
    row: Indices  # the row of each task, (tasks,)

    @classmethod
    def of(cls, posteriors: ArmPosteriors[Posterior], width: float) -> "HighestBound":
        """Frozen at these posteriors."""
        return cls(posteriors.prediction.bound(width), posteriors.row)

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """The best eligible arm."""
        tasks, eligible = _checked_offer(tasks, eligible, self.row.size, self.bound.shape[1])
        bound = np.where(eligible, self.bound[self.row[tasks]], -np.inf)
        best = bound == bound.max(axis=1, keepdims=True)
        return evenly(tasks, best)


@dataclass(frozen=True, slots=True, eq=False)
class HighestRandomBound:
    """The arm of highest bound, where arms draw the widths of their bounds; equal ones share."""

    mean: Matrix  # (rows, K)
    std: Matrix
    row: Indices  # the row of each task, (tasks,)
    width: float
    growth: float
    jitter: float

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """The probability that each eligible arm has the highest bound."""
        tasks, eligible = _checked_offer(tasks, eligible, self.row.size, self.mean.shape[1])
        rows = self.row[tasks]
        event, arm = np.nonzero(eligible)
        offset = np.append(0, np.cumsum(eligible.sum(axis=1)))
        mean, std = self.mean[rows[event], arm], self.std[rows[event], arm]
        ends = bound_ends(mean, std, offset, self.width, self.growth, self.jitter)
        chance = np.empty(event.size)
        chances(ends, offset, event, np.arange(event.size) - offset[event], chance)
        shares = np.zeros(eligible.shape)
        shares[event, arm] = chance
        return shares


@dataclass(slots=True, eq=False)
class DrawnShares:
    """A rule that chooses by draws and has stopped learning: `draws` of them stay as they are.

    A task's draws are a function of the seed and the task, so that this is one policy whatever
    the batches.  `shares_of` makes probabilities, (n, K), of drawn values, (n, draws, K), and of
    the eligible arms, (n, K).  If `mirrored`, each draw has a mirror image beyond the mean.
    """

    posteriors: ArmPosteriors[Posterior]
    draws: int
    stream: Stream
    shares_of: Callable[[Matrix, Mask], Matrix]
    scale: float = 1.0  # how far draws are from their means, in units of the posterior's
    mirrored: bool = False
    _known: Matrix | None = field(default=None, init=False)  # all arms eligible; NaN: not yet

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """The probability of each eligible arm, exact given the draws."""
        num_arms = self.posteriors.prediction.mean.shape[1]
        tasks, eligible = _checked_offer(tasks, eligible, self.posteriors.row.size, num_arms)
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
        dim, draws = self.posteriors.draw_dim, self.draws
        step = max(1, CHUNK // (draws * max(dim, eligible.shape[1])))
        for start in range(0, tasks.size, step):
            part = slice(start, start + step)
            some = tasks[part]
            whose, place = np.unique(self.posteriors.whose(some), return_inverse=True)
            run, zero = np.tile(np.arange(draws), whose.size), np.zeros(whose.size * draws, np.intp)
            keys = (run, np.repeat(whose, draws), zero)
            normals = self.stream.normals(keys, dim).reshape(whose.size, draws, dim)
            normals = normals[place] * self.scale
            if self.mirrored:
                normals = np.concatenate([normals, -normals], axis=1)
            shares[part] = self.shares_of(self.posteriors.drawn(some, normals), eligible[part])
        return shares


def best_shares(values: Matrix, eligible: Mask) -> Matrix:
    """The share of draws in which each eligible arm is best."""
    num_events, draws, _ = values.shape
    best = np.where(eligible[:, None], values, -np.inf).argmax(axis=2)
    shares = np.zeros(eligible.shape)
    np.add.at(shares, (np.repeat(np.arange(num_events), draws), best.ravel()), 1.0)
    shares /= draws
    return shares
