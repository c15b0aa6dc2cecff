"""Counts: rewards that are whole numbers with no upper end."""

from dataclasses import dataclass
from math import exp
from typing import Any, ClassVar

import numpy as np
from scipy.special import pdtrik

from hierbandits.checks import float_array
from hierbandits.kernels.plain_functions import plain_exp
from hierbandits.kernels.quick_moments import FURTHEST, count_moments
from hierbandits.kernels.whole_numbers import all_single_counts, log_orders
from hierbandits.models.reward_family import (
    LARGEST_COUNT,
    LARGEST_MEAN,
    RewardFamily,
    refuse,
    refuse_large,
)
from hierbandits.types import Matrix, Vector

_LARGEST_LOG = float(np.log(LARGEST_MEAN))


@dataclass(frozen=True, slots=True)
class PoissonRewards(RewardFamily):
    """y ~ Poisson(exposure * exp(eta)); the exposure is the time or size that it counts over."""

    NAME: ClassVar[str] = "poisson"
    LINK: ClassVar[str] = "log rate"
    ADDS_UP: ClassVar[bool] = True

    @staticmethod
    def log_densities(
        reward: float, exposure: float, shape: float, eta: Any, out: Any, number: int
    ) -> None:
        """Fill `out` with the log densities of a reward, but for `log_base`."""
        for i in range(number):
            x = float(eta[i])
            out[i] = reward * x - exposure * plain_exp(x)

    @staticmethod
    def slope(reward: float, exposure: float, shape: float, eta: float) -> float:
        """The derivative of the log density by eta."""
        return reward - exposure * exp(eta)

    @staticmethod
    def curvature(reward: float, exposure: float, shape: float, eta: float) -> float:
        """The derivative of `slope` by eta, with its sign changed."""
        return exposure * exp(eta)

    @staticmethod
    def quick_moments(
        reward: float, exposure: float, shape: float, mean: float, var: float, out: Any
    ) -> bool:
        """Fill `out` with what a count tells of eta ~ N(mean, var), unless it tells much."""
        if not abs(mean) < FURTHEST:
            return False
        log_z, slope, curvature = count_moments(
            float(reward), float(exposure), float(mean), float(var)
        )
        out[0], out[1], out[2] = log_z, slope, curvature
        return curvature >= 0.0

    @staticmethod
    def density_of_none(eta: Matrix) -> Matrix:
        """The probability that there is none."""
        p: Matrix = np.exp(-np.exp(eta))
        return p

    def log_base(self, rewards: Vector, exposure: Vector) -> Vector:
        """The log of exposure^y / y!."""
        counts, sizes = float_array("rewards", rewards), float_array("exposure", exposure)
        if counts.shape != sizes.shape:
            raise ValueError(
                f"exposure must have the shape of rewards, {counts.shape}, got {sizes.shape}"
            )
        log: Vector = log_orders(counts.ravel(), sizes.ravel()).reshape(counts.shape)
        return log

    def mean(self, eta: Vector) -> Vector:
        """The rate."""
        rate: Vector = np.exp(np.minimum(eta, _LARGEST_LOG))
        return rate

    def mean_and_std(self, eta_mean: Vector, eta_std: Vector) -> tuple[Vector, Vector]:
        """The mean rate and its standard deviation, which are those of a log-normal."""
        var = eta_std * eta_std
        share = np.sqrt(-np.expm1(-var))
        return self.mean(eta_mean + var / 2), share * self.mean(eta_mean + var)

    def draw(self, eta: Vector, exposure: Vector, uniforms: Vector) -> Vector:
        """The count that a uniform number stands for."""
        rate = exposure * self.mean(eta)
        number = np.ceil(pdtrik(uniforms, rate))
        # Where even none is more probable than the uniform number, there is no root to find.
        return np.where(np.exp(-rate) >= uniforms, 0.0, np.maximum(number, 0.0))

    def check(self, name: str, rewards: Vector, exposure: Vector) -> None:
        """Raise an error unless rewards are whole numbers from 0 to LARGEST_COUNT."""
        _check_counts(name, rewards, exposure, LARGEST_COUNT)

    def check_totals(self, name: str, totals: Vector, exposure: Vector) -> None:
        """The same of sums, which may be larger."""
        _check_counts(name, totals, exposure, LARGEST_COUNT**2)


def _check_counts(name: str, counts: Vector, exposure: Vector, most: float) -> None:
    counts, exposure = float_array(name, counts), float_array("exposure", exposure)
    if all_single_counts(counts.ravel(), exposure.ravel(), most):
        return
    bad = (counts < 0) | (counts != np.round(counts))
    refuse(name, counts, bad, "counts, whole numbers of at least 0")
    refuse_large(name, counts, exposure, most)
