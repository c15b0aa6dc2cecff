"""Information-directed sampling: play what tells most about the best arm for its cost."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import count, generator
from hierbandits.kernels.information import (
    mixture_shares,
    pairs_armed,
    pairs_linear,
    row_armed,
    row_linear,
)
from hierbandits.keyed_random import Stream
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.frozen_rules import DrawnShares
from hierbandits.policies.linked_values import linked_pairs
from hierbandits.policies.odds import PairOdds
from hierbandits.policies.rule import ChooseOne
from hierbandits.types import Features, Indices, Mask, Matrix

IDS_PAIRS = 8
"""Pairs of posterior draws of each decision of HierIDS."""


@dataclass(frozen=True, slots=True)
class Ids:
    """Plays the mixture of arms of least (mean shortfall)^2 / (mean insight).

    Each task makes `pairs` of posterior draws of its own, one on each side of the mean (or any two,
    where these differ).  An arm's
    shortfall is what it is worth less than the best arm of a draw; its insight is the variance of
    the mean of its value given which arm is best.  The mixture has one or two arms, so an event's
    other arms cannot be played.  Variance-based information-directed sampling (Russo and Van Roy,
    2014).
    """

    pairs: int = IDS_PAIRS
    answers_fit: ClassVar[bool] = True
    leaves_arms_out: ClassVar[bool] = True

    def __post_init__(self) -> None:
        count("pairs", self.pairs, least=1)

    def __call__(self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
        """One of the two arms of each event's mixture."""
        return self.odds(view, rng, nodes, arms, draws=1).choices

    def _raw_one(self, view: BeliefView, /) -> ChooseOne | None:
        """One of the two rows of a table's mixture."""
        if not view._viewed.IS_GAUSSIAN:
            return None
        belief, pairs = view._viewed, self.pairs
        play: Callable[..., int] = row_armed if belief.is_armed else row_linear

        def choose(stock: NormalStock, node: int, table: Features) -> int:
            if table.ndim == 2:
                belief._raw_check_fit(table)
            theta = belief._raw_spread(stock, node, pairs)
            place = stock.take(1)
            return play(theta, table, stock.block[place])

        return choose

    def odds(
        self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /, *, draws: int
    ) -> PairOdds:
        """The mixture, exact given the draws, of which the rule makes its own number."""
        is_symmetric = view._viewed.IS_SYMMETRIC  # or draws have no mirror images
        number = self.pairs if is_symmetric else 2 * self.pairs
        means, own = view.draws(None, nodes)
        theta, slots = view.draws(generator("rng", rng), nodes, repeats=number, fresh=True)
        fitting = view._fitting_arms(arms, own.size)
        if not view._viewed.IS_GAUSSIAN:
            centre = means[own] if is_symmetric else None
            return PairOdds.of_mixture(*linked_pairs(view, fitting, centre, theta, slots), rng)
        pair, share = np.empty((2, own.size), np.intp), np.empty(own.size)
        kernel = pairs_armed if view.is_armed else pairs_linear
        kernel(means[own], theta, slots, fitting._raw_arrays, pair, share)
        return PairOdds.of_mixture(pair, share, rng)

    def frozen(
        self, posteriors: ArmPosteriors[Posterior], draws: int, stream: Stream, /
    ) -> DrawnShares:
        """The mixture of the rule's number of fixed draws."""
        return DrawnShares(posteriors, self.pairs, stream, _mixtures, mirrored=True)


def _mixtures(values: Matrix, eligible: Mask) -> Matrix:
    """The mixture of each event, (n, K), from values (n, draws, K)."""
    shares = np.zeros(eligible.shape)
    mixture_shares(values, eligible, shares)
    return shares
