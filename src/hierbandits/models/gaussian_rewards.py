"""Rewards with Gaussian noise."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri

from hierbandits.checks import positive
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Vector


@dataclass(frozen=True, slots=True)
class GaussianRewards(RewardFamily):
    """y ~ N(exposure * eta, exposure * noise_std^2): the sum of so many plain rewards.

    Moment matching is exact for it.
    """

    NAME: ClassVar[str] = "gaussian"
    ADDS_UP: ClassVar[bool] = True

    noise_std: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_std", float(positive("noise_std", self.noise_std, ())))

    @property
    def shape(self) -> float:
        """The standard deviation of the noise."""
        return self.noise_std

    @staticmethod
    def log_densities(
        reward: float, exposure: float, shape: float, eta: Any, out: Any, number: int
    ) -> None:
        """Fill `out` with the log densities of a reward, but for `log_base`."""
        for i in range(number):
            x = eta[i]
            out[i] = x * (reward - 0.5 * exposure * x) / (shape * shape)

    @staticmethod
    def slope(reward: float, exposure: float, shape: float, eta: float) -> float:
        """The derivative of the log density by eta."""
        return (reward - exposure * eta) / (shape * shape)

    @staticmethod
    def curvature(reward: float, exposure: float, shape: float, eta: float) -> float:
        """The derivative of `slope` by eta, with its sign changed."""
        return exposure / (shape * shape)

    def log_base(self, rewards: Vector, exposure: Vector) -> Vector:
        """The log density of a reward if eta is zero."""
        var = exposure * self.noise_std**2
        log: Vector = -0.5 * (np.log(2 * np.pi * var) + rewards**2 / var)
        return log

    def mean(self, eta: Vector) -> Vector:
        """The linear predictor itself."""
        return eta

    def draw(self, eta: Vector, exposure: Vector, uniforms: Vector) -> Vector:
        """The reward that a uniform number stands for."""
        rewards: Vector = exposure * eta + np.sqrt(exposure) * self.noise_std * ndtri(uniforms)
        return rewards

    def check(self, name: str, rewards: Vector, exposure: Vector) -> None:
        """Take every reward, and every exposure whose square does not vanish."""
        positive("exposure", exposure, np.shape(exposure))
