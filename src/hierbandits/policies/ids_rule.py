"""Information-directed sampling: play what tells most about the best arm for its cost."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import count
from hierbandits.kernels.information import mixture_shares, pairs_armed, pairs_linear
from hierbandits.keyed_random import Stream
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.frozen_rules import DrawnShares
from hierbandits.policies.odds import PairOdds
from hierbandits.types import Indices, Mask, Matrix

IDS_DRAWS = 32
"""Posterior draws of each decision of HierIDS."""


@dataclass(frozen=True, slots=True)
class Ids:
    """Plays the mixture of arms of least (mean shortfall)^2 / (mean insight).

    Each task makes `draws` posterior draws of its own.  An arm's shortfall is what it is worth
    less than the best arm of a draw; its insight is the variance of the mean of its value given
    which arm is best.  The mixture has one or two arms, so an event's other arms cannot be played.
    Variance-based information-directed sampling (Russo and Van Roy, 2014).
    """

    draws: int = IDS_DRAWS
    answers_fit: ClassVar[bool] = True
    leaves_arms_out: ClassVar[bool] = True

    def __post_init__(self) -> None:
        count("draws", self.draws, least=1)

    def __call__(self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
        """One of the two arms of each event's mixture."""
        return self.odds(view, rng, nodes, arms, draws=self.draws).choices

    def odds(
        self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /, *, draws: int
    ) -> PairOdds:
        """The mixture, exact given the draws, of which the rule makes its own number."""
        theta, slots = view._viewed.draws(
            rng, nodes, repeats=self.draws, fresh=True, time=view._moment
        )
        pair, share = np.empty((2, nodes.size), np.intp), np.empty(nodes.size)
        kernel = pairs_armed if arms.table.ndim == 1 else pairs_linear
        kernel(theta, slots, arms.arrays, pair, share)
        return PairOdds.of_mixture(pair, share, rng)

    def frozen(
        self, posteriors: ArmPosteriors[Posterior], draws: int, stream: Stream, /
    ) -> DrawnShares:
        """The mixture of the rule's number of fixed draws."""
        return DrawnShares(posteriors, self.draws, stream, _mixtures)


def _mixtures(values: Matrix, eligible: Mask) -> Matrix:
    """The mixture of each event, (n, K), from values (n, draws, K)."""
    shares = np.zeros(eligible.shape)
    mixture_shares(values, eligible, shares)
    return shares
