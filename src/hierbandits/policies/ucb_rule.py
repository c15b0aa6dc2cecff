"""Upper confidence bounds: play the arm that could be best."""

from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import LARGEST, generator, probability
from hierbandits.kernels.random_bounds import bound_ends, highest
from hierbandits.keyed_random import Stream
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.frozen_rules import HighestRandomBound
from hierbandits.policies.odds import BestOdds, RandomBoundOdds
from hierbandits.policies.rule import ChooseOne
from hierbandits.types import Features, Indices, Matrix, Vector

RANDOM_WIDTH, RANDOM_JITTER, RANDOM_GROWTH = 1.3, 0.3, 0.35
"""The width of HierRandUCB, how far either way an arm's own may be from it, and its growth."""

HIER_UCB_DELTA = 0.05
"""How often an upper bound of HierUCB may fail; `ucb_width` makes it a width."""

LIN_UCB_WIDTH = 1.0
"""alpha, the width of LinUCB in standard deviations."""


@dataclass(frozen=True, slots=True)
class Ucb:
    """Plays the arm of highest mean plus `width` posterior standard deviations.

    With width = ucb_width(delta) this is HierBayesUCB (Guan and Xiong, 2024); a negative width
    makes it pessimistic.

    With `growth`, an arm that is known less well than the event's best-known one has a wider bound:
    sqrt(width^2 + 2 growth log(std / least std)) in place of `width`, the more so the longer a task
    goes on.  With a `jitter`, every arm of every event draws its width, uniform within the jitter
    of that: RandUCB (Vaswani et al., 2020) on the posterior.  Then the tasks of a round do not all
    play the same arm.
    """

    width: float
    jitter: float = 0.0
    growth: float = 0.0
    answers_fit: ClassVar[bool] = True
    leaves_arms_out: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("width", "jitter", "growth"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not abs(value) <= LARGEST:
                raise ValueError(f"{name} must be a finite number, got {value!r:.80}")
            object.__setattr__(self, name, float(value))
            if value < 0 and (name != "width" or self.growth > 0):
                raise ValueError(f"{name} must be at least 0, got {value}")

    def __call__(self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
        """The arm of highest bound of each event."""
        bounds = self._drawn_bounds(self._bound_ends(view, nodes, arms), generator("rng", rng))
        return arms.best(bounds, rng)

    def _raw_one(self, view: BeliefView, /) -> ChooseOne:
        """The row of highest bound of a table."""
        belief, widths = view._viewed, (self.width, self.growth, self.jitter)

        def choose(stock: NormalStock, node: int, table: Features) -> int:
            size = len(table)
            if table.ndim == 2:
                belief._raw_check_fit(table)
            zeros, rows = _rows_of_one(size)
            mean, within, shared = belief._raw_predict(zeros + node, table, rows)
            first = stock.take(size + 1)
            return highest(mean, within, shared, stock.block, first, *widths)

        return choose

    def odds(
        self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /, *, draws: int
    ) -> BestOdds | RandomBoundOdds:
        """The arm of highest bound, or one of those that tie; exact, and no draws are made."""
        ends = self._bound_ends(view, nodes, arms)
        bounds = self._drawn_bounds(ends, generator("rng", rng))
        if not self.jitter:
            return BestOdds.of_scores(bounds, arms, rng)
        return RandomBoundOdds(arms, ends, arms.best(bounds, rng))

    def frozen(
        self, posteriors: ArmPosteriors[Posterior], draws: int, stream: Stream, /
    ) -> HighestRandomBound:
        """The arm of highest bound; a task's arms are all those of the table."""
        prediction = posteriors.prediction
        widths = (self.width, self.growth, self.jitter)
        return HighestRandomBound(prediction.mean, prediction.std, posteriors.row, *widths)

    def _bound_ends(self, view: BeliefView, nodes: Indices, arms: Arms) -> Matrix:
        """The lowest and the highest bound of each arm, in the order of `Arms.flat_rows`."""
        checked, time = view._checked(nodes, None)
        sizes = view._fitting_arms(arms, checked.size).sizes
        times = None if time is None else np.repeat(time, sizes)
        each = np.repeat(checked, sizes)  # the node of every arm
        prediction = view._viewed._raw_predict(each, arms._own_table, arms.flat_rows(), times)
        return bound_ends(
            prediction.mean, prediction.std, arms._own_offset, self.width, self.growth, self.jitter
        )

    def _drawn_bounds(self, ends: Matrix, rng: Generator) -> Vector:
        """A bound of each arm."""
        bounds: Vector = ends[0]
        if self.jitter:
            bounds = bounds + (ends[1] - bounds) * rng.random(bounds.size)
        return bounds


@lru_cache(maxsize=64)
def _rows_of_one(size: int) -> tuple[Indices, Indices]:
    """Zeros, and the rows of a table of this size; nobody writes to them."""
    return np.zeros(size, np.intp), np.arange(size)


def ucb_width(delta: float) -> float:
    """The width whose one-sided Gaussian tail is at most delta: sqrt(2 log(1 / delta))."""
    delta = probability("delta", delta)
    return sqrt(2 * log(1 / delta))
