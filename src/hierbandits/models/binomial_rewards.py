"""How many of a number of trials succeed."""

from dataclasses import dataclass
from math import exp
from typing import Any, ClassVar

import numpy as np
from scipy.special import bdtrik, betaln, expit

from hierbandits.kernels.plain_functions import plain_exp, plain_log1p
from hierbandits.models.reward_family import (
    LARGEST_COUNT,
    RewardFamily,
    refuse,
    refuse_large,
)
from hierbandits.models.wide_logit import DEEP, WIDE, wide_logit
from hierbandits.types import Matrix, Vector


@dataclass(frozen=True, slots=True)
class BinomialRewards(RewardFamily):
    """y ~ Binomial(trials, p) with log(p / (1 - p)) = eta; an event's exposure is its trials."""

    NAME: ClassVar[str] = "binomial"
    LINK: ClassVar[str] = "log odds"
    ADDS_UP: ClassVar[bool] = True

    @staticmethod
    def log_densities(
        reward: float, exposure: float, shape: float, eta: Any, out: Any, number: int
    ) -> None:
        """Fill `out` with the log densities of a reward, but for `log_base`."""
        for i in range(number):
            x = float(eta[i])
            tail = plain_log1p(plain_exp(-abs(x)))
            out[i] = reward * x - exposure * (max(x, 0.0) + tail)

    @staticmethod
    def slope(reward: float, exposure: float, shape: float, eta: float) -> float:
        """The derivative of the log density by eta."""
        return reward - exposure / (1.0 + exp(-eta))

    @staticmethod
    def curvature(reward: float, exposure: float, shape: float, eta: float) -> float:
        """The derivative of `slope` by eta, with its sign changed."""
        tail = exp(-abs(eta))
        return exposure * tail / ((1.0 + tail) * (1.0 + tail))

    @staticmethod
    def density_of_none(eta: Matrix) -> Matrix:
        """The probability that one trial fails."""
        p: Matrix = expit(-eta)
        return p

    def log_base(self, rewards: Vector, exposure: Vector) -> Vector:
        """The log of the binomial coefficient."""
        log: Vector = -np.log1p(exposure) - betaln(exposure - rewards + 1, rewards + 1)
        return log

    def mean(self, eta: Vector) -> Vector:
        """The probability of success."""
        p: Vector = expit(eta)
        return p

    def mean_and_std(self, eta_mean: Vector, eta_std: Vector) -> tuple[Vector, Vector]:
        """The mean probability and its standard deviation."""
        mean, std = RewardFamily.mean_and_std(self, eta_mean, eta_std)
        wide = np.flatnonzero((eta_std > WIDE) & (eta_std**2 > np.abs(eta_mean) - DEEP))
        if wide.size:
            mean[wide], std[wide] = wide_logit(eta_mean[wide], eta_std[wide])
        return mean, std

    def draw(self, eta: Vector, exposure: Vector, uniforms: Vector) -> Vector:
        """The number of successes that a uniform number stands for."""
        number = np.ceil(bdtrik(uniforms, exposure, expit(eta)))
        # Where even none is more probable than the uniform number, there is no root to find.
        none = (1 - expit(eta)) ** exposure >= uniforms
        return np.where(none, 0.0, np.clip(number, 0.0, exposure))

    def check(self, name: str, rewards: Vector, exposure: Vector) -> None:
        """Raise an error unless rewards are whole numbers from 0 to their exposure."""
        check_trials(name, rewards, exposure, LARGEST_COUNT)

    def check_totals(self, name: str, totals: Vector, exposure: Vector) -> None:
        """The same of sums, which may be larger."""
        check_trials(name, totals, exposure, LARGEST_COUNT**2)


def check_trials(name: str, successes: Vector, trials: Vector, most: float) -> None:
    """Raise an error unless these are successes of trials, of which there are at most `most`."""
    refuse("exposure", trials, trials != np.round(trials), "whole numbers of trials")
    bad = (successes < 0) | (successes > trials) | (successes != np.round(successes))
    refuse(name, successes, bad, _RANGE_ONE if (trials == 1).all() else _RANGE)
    refuse_large(name, successes, trials, most)


_RANGE = "numbers of successes, from 0 to the number of trials"
_RANGE_ONE = (
    f"{_RANGE}, which is 1 (an agent and a log hold single trials; belief.observe has exposure=)"
)
