"""Gaussians as beliefs report them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hierbandits.types import Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Gaussian:
    """N(mean, cov)."""

    mean: Vector  # (d,)
    cov: Matrix  # (d, d)

    @property
    def std(self) -> Vector:
        """The standard deviation of each coordinate, (d,)."""
        return np.sqrt(np.diagonal(self.cov))


@dataclass(frozen=True, slots=True, eq=False)
class Uncertainty:
    """The covariance of a task's parameter, split: cov = within + shared.

    [HBB, eq. covariance decomposition]
    """

    within: Matrix  # (d, d) what would remain if the parent's parameter were known
    shared: Matrix  # (d, d) what comes from not knowing it


class Prediction(NamedTuple):
    """The posterior of x @ theta for each event, its variance split likewise."""

    mean: Vector  # (E,)
    within_var: Vector  # (E,)
    shared_var: Vector  # (E,)

    @property
    def std(self) -> Vector:
        """The standard deviation of x @ theta, (E,)."""
        return np.sqrt(self.within_var + self.shared_var)

    def bound(self, width: float) -> Vector:
        """The mean plus `width` standard deviations: a lower bound if it is negative, (E,)."""
        return self.mean + width * self.std
