"""Upper confidence bounds: play the arm that could be best."""

from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, log, sqrt
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.gaussian import Prediction
from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import probability
from hierbandits.kernels.random_bounds import TAIL, drawn_widths, highest
from hierbandits.keyed_random import Stream
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.frozen_rules import HighestBound, HighestRandomBound
from hierbandits.policies.odds import BestOdds, RandomBoundOdds
from hierbandits.policies.rule import ChooseOne
from hierbandits.types import Features, Indices, Matrix, Vector

RANDOM_WIDTH, RANDOM_JITTER = 1.6, 0.3
"""The width of HierRandUCB, and how far either way an arm's usually is from it."""

HIER_UCB_DELTA = 0.05
"""How often an upper bound of HierUCB may fail; `ucb_width` makes it a width."""

LIN_UCB_WIDTH = 1.0
"""alpha, the width of LinUCB in standard deviations."""


@dataclass(frozen=True, slots=True)
class Ucb:
    """Plays the arm of highest mean plus `width` posterior standard deviations.

    With width = ucb_width(delta) this is HierBayesUCB (Guan and Xiong, 2024); a negative width
    makes it pessimistic.  With a `jitter`, every arm of every event draws a width of its own:
    RandUCB (Vaswani et al., 2020) on the posterior.  Then the tasks of a round do not all play the
    same arm.  Widths are uniform within the jitter of `width`, and rarely larger, so that no arm
    is given up for ever; see `kernels.random_bounds`.
    """

    width: float
    jitter: float = 0.0
    answers_fit: ClassVar[bool] = True
    leaves_arms_out: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, value in (("width", self.width), ("jitter", self.jitter)):
            if not isinstance(value, int | float) or not isfinite(value):
                raise ValueError(f"{name} must be a finite number, got {value!r:.80}")
        if self.jitter < 0:
            raise ValueError(f"jitter must be at least 0, got {self.jitter}")

    def __call__(self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
        """The arm of highest bound of each event."""
        prediction = self._predicted(view, nodes, arms)
        return arms.best(prediction.bound(self._widths(rng, prediction.mean.size)), rng)

    def one(self, view: BeliefView, /) -> ChooseOne:
        """The row of highest bound of a table."""
        belief, width, jitter = view._viewed, self.width, self.jitter
        most = belief.largest_feature**2

        def choose(stock: NormalStock, node: int, table: Features) -> int:
            size = len(table)
            if table.ndim == 2 and not np.vdot(table, table) <= most:
                belief.check_fit(table)
            zeros, rows = _rows_of_one(size)
            mean, within, shared = belief.predict_rows(zeros + node, table, rows)
            first = stock.take(size + 1)
            return highest(mean, within, shared, stock.block, first, width, jitter)

        return choose

    def odds(
        self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /, *, draws: int
    ) -> BestOdds | RandomBoundOdds:
        """The arm of highest bound, or one of those that tie; exact, and no draws are made."""
        prediction = self._predicted(view, nodes, arms)
        bounds = prediction.bound(self._widths(rng, prediction.mean.size))
        if not self.jitter:
            return BestOdds.of_scores(bounds, arms, rng)
        return RandomBoundOdds(arms, self._ends(prediction), arms.best(bounds, rng))

    def frozen(
        self, posteriors: ArmPosteriors[Posterior], draws: int, stream: Stream, /
    ) -> HighestBound | HighestRandomBound:
        """The arm of highest bound."""
        if not self.jitter:
            return HighestBound.of(posteriors, self.width)
        return HighestRandomBound(self._ends(posteriors.prediction), posteriors.row)

    def _ends(self, prediction: Prediction) -> Matrix:
        """Where the bounds of each arm begin, and where usual and rare ones end, (3, arms)."""
        steps = (-1.0, 1.0, TAIL)
        return np.stack([prediction.bound(self.width + step * self.jitter) for step in steps])

    def _widths(self, rng: Generator, size: int) -> float | Vector:
        """The width of each of so many arms."""
        if not self.jitter:
            return self.width
        return drawn_widths(rng.random(size), self.width, self.jitter)

    def _predicted(self, view: BeliefView, nodes: Indices, arms: Arms) -> Prediction:
        """The posterior of each arm of each event, in the order of `Arms.flat_rows`."""
        sizes = arms.sizes
        time = None if view._moment is None else np.repeat(view._moment, sizes)
        each = np.repeat(nodes, sizes)  # the node of every arm
        return view._viewed.predict_rows(each, arms.table, arms.flat_rows(), time)


@lru_cache(maxsize=64)
def _rows_of_one(size: int) -> tuple[Indices, Indices]:
    """Zeros, and the rows of a table of this size; nobody writes to them."""
    return np.zeros(size, np.intp), np.arange(size)


def ucb_width(delta: float) -> float:
    """The width whose one-sided Gaussian tail is at most delta: sqrt(2 log(1 / delta))."""
    delta = probability("delta", delta)
    return sqrt(2 * log(1 / delta))
