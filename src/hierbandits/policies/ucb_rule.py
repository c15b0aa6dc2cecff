"""Upper confidence bounds: play the arm that could be best."""

from dataclasses import dataclass
from math import isfinite, log, sqrt
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import probability
from hierbandits.keyed_random import Stream
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.frozen_rules import HighestBound
from hierbandits.policies.odds import BestOdds
from hierbandits.types import Indices, Vector

HIER_UCB_DELTA = 0.05
"""How often an upper bound of HierUCB may fail; `ucb_width` makes it a width."""

LIN_UCB_WIDTH = 1.0
"""alpha, the width of LinUCB in standard deviations."""


@dataclass(frozen=True, slots=True)
class Ucb:
    """Plays the arm of highest mean plus `width` posterior standard deviations.

    With width = ucb_width(delta) this is HierBayesUCB (Guan and Xiong, 2024); a negative width
    makes it pessimistic.
    """

    width: float
    answers_fit: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.width, int | float) or not isfinite(self.width):
            raise ValueError(f"width must be a finite number, got {self.width!r:.80}")

    def __call__(self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
        """The arm of highest bound of each event."""
        return arms.best(self._bounds(view, nodes, arms), rng)

    def odds(
        self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /, *, draws: int
    ) -> BestOdds:
        """The arm of highest bound for certain, or one of those that tie; no draws are made."""
        return BestOdds.of_scores(self._bounds(view, nodes, arms), arms, rng)

    def frozen(
        self, posteriors: ArmPosteriors[Posterior], draws: int, stream: Stream, /
    ) -> HighestBound:
        """The arm of highest bound."""
        return HighestBound.of(posteriors, self.width)

    def _bounds(self, view: BeliefView, nodes: Indices, arms: Arms) -> Vector:
        """The bound of each arm of each event, in the order of `Arms.flat_rows`."""
        sizes = arms.sizes
        time = None if view._moment is None else np.repeat(view._moment, sizes)
        each = np.repeat(nodes, sizes)  # the node of every arm
        return view._viewed.predict_rows(each, arms.table, arms.flat_rows(), time).bound(self.width)


def ucb_width(delta: float) -> float:
    """The width whose one-sided Gaussian tail is at most delta: sqrt(2 log(1 / delta))."""
    delta = probability("delta", delta)
    return sqrt(2 * log(1 / delta))
