"""Families that users write, some of them wrong."""

from dataclasses import dataclass
from math import exp, log
from typing import ClassVar

import numpy as np
from scipy.special import gammaln
from scipy.stats import nbinom

import hierbandits as hb


@dataclass(frozen=True, slots=True)
class NegativeBinomial(hb.RewardFamily):
    """The family of docs/extending.md: log densities overflow where eta is beyond 709."""

    NAME: ClassVar[str] = "negative binomial"

    size: float = 2.0

    @property
    def shape(self):
        return self.size

    @staticmethod
    def log_densities(reward, exposure, shape, eta, out, number):
        for i in range(number):
            out[i] = reward * eta[i] - (reward + shape) * log(shape + exp(eta[i]))

    @staticmethod
    def slope(reward, exposure, shape, eta):
        return reward - (reward + shape) / (1.0 + shape * exp(-eta))

    @staticmethod
    def curvature(reward, exposure, shape, eta):
        p = 1.0 / (1.0 + shape * exp(-eta))
        return (reward + shape) * p * (1.0 - p)

    def log_base(self, rewards, exposure):
        r = self.size
        return gammaln(rewards + r) - gammaln(r) - gammaln(rewards + 1) + r * np.log(r)

    def mean(self, eta):
        return np.exp(eta)

    def draw(self, eta, exposure, uniforms):
        return nbinom.ppf(uniforms, self.size, self.size / (self.size + np.exp(eta)))

    def check(self, name, rewards, exposure):
        if ((rewards < 0) | (rewards != np.round(rewards))).any():
            raise ValueError(f"{name} must be whole numbers of at least 0, got {rewards}")


def _nan_densities(reward, exposure, shape, eta, out, number):
    for i in range(number):
        out[i] = np.nan if reward == 9.0 else -eta[i] * eta[i]


def _raising_densities(reward, exposure, shape, eta, out, number):
    for i in range(number):
        if reward == 9.0:
            raise ValueError("no")
        out[i] = -eta[i] * eta[i]


def _plain_slope(reward, exposure, shape, eta):
    return -2.0 * eta


def _plain_curvature(reward, exposure, shape, eta):
    return 2.0


def _nan(reward, exposure, shape, eta):
    return np.nan if reward == 9.0 else -2.0 * eta


def _raising(reward, exposure, shape, eta):
    if reward == 9.0:
        raise ValueError("no")
    return -2.0 * eta


def _nan_curvature(reward, exposure, shape, eta):
    return np.nan if reward == 9.0 else 2.0


def _wrong(**functions):
    """A family that gives no number for a reward of 9."""
    good = {"log_densities": NegativeBinomial.log_densities, "slope": NegativeBinomial.slope,
            "curvature": NegativeBinomial.curvature}  # fmt: skip
    static = {name: staticmethod(each) for name, each in (good | functions).items()}
    return type("Wrong", (NegativeBinomial,), {"__slots__": (), "NAME": "wrong", **static})()


_PLAIN = {"slope": _plain_slope, "curvature": _plain_curvature}
WRONG = {
    "densities": _wrong(**_PLAIN | {"log_densities": _nan_densities}),
    "raising densities": _wrong(**_PLAIN | {"log_densities": _raising_densities}),
    "slope": _wrong(slope=_nan),
    "raising slope": _wrong(slope=_raising),
    "curvature": _wrong(curvature=_nan_curvature),
}
"""Families that give no number, or raise an error, for a reward of 9."""
