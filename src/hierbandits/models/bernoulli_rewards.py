"""Clicks and conversions: rewards that are 0 or 1."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from hierbandits.checks import float_array
from hierbandits.kernels.whole_numbers import all_single_counts
from hierbandits.models.binomial_rewards import BinomialRewards
from hierbandits.models.reward_family import refuse
from hierbandits.types import Vector


@dataclass(frozen=True, slots=True)
class BernoulliRewards(BinomialRewards):
    """y is 1 with probability p and 0 otherwise, log(p / (1 - p)) = eta: one trial each."""

    NAME: ClassVar[str] = "bernoulli"

    def log_base(self, rewards: Vector, exposure: Vector) -> Vector:
        """Zero."""
        return np.zeros(np.shape(rewards))

    def draw(self, eta: Vector, exposure: Vector, uniforms: Vector) -> Vector:
        """1 where the uniform number is below the probability."""
        wins: Vector = (uniforms < expit(eta)).astype(float)
        return wins

    def draw_totals(self, eta: Vector, exposure: Vector, uniforms: Vector) -> Vector:
        """The number of rewards of 1, of so many rewards."""
        return BinomialRewards.draw(self, eta, exposure, uniforms)

    def check(self, name: str, rewards: Vector, exposure: Vector) -> None:
        """Raise an error unless rewards are 0 or 1."""
        rewards, exposure = float_array(name, rewards), float_array("exposure", exposure)
        if all_single_counts(rewards.ravel(), exposure.ravel(), 1.0):
            return
        refuse("exposure", exposure, exposure != 1, "1 for bernoulli rewards (binomial has trials)")
        refuse(name, rewards, (rewards != 0) & (rewards != 1), "0 or 1")

    def check_totals(self, name: str, totals: Vector, exposure: Vector) -> None:
        """Raise an error unless sums are whole numbers from 0 to the number of rewards."""
        BinomialRewards.check_totals(self, name, totals, exposure)
