"""How probable the rewards were, population by population."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The log evidence in parts, from each reward's innovation e and its variance V.

    An unknown scale of the noise and of all covariances multiplies every V by the same number.
    Its posterior therefore needs these three sums alone.
    """

    parts: Matrix  # (3, P): the number of rewards, sum of log V, sum of e^2 / V

    @classmethod
    def none(cls, num_populations: int) -> "Evidence":
        """Before any reward."""
        return cls(np.zeros((3, num_populations)))

    @classmethod
    def of_parts(cls, parts: Matrix) -> "Evidence":
        """From a file's finite numbers, checked."""
        if ((parts[0] < 0) | (parts[0] != np.round(parts[0]))).any():
            raise ValueError("evidence must count rewards in its first row")
        return cls(parts)

    @property
    def count(self) -> Vector:
        """The number of rewards, (P,)."""
        return self.parts[0, :]

    @property
    def log_var(self) -> Vector:
        """The sum of log V, (P,)."""
        return self.parts[1, :]

    @property
    def square(self) -> Vector:
        """The sum of e^2 / V, (P,)."""
        return self.parts[2, :]

    def log(self) -> Vector:
        """The log marginal density of all rewards, (P,)."""
        log: Vector = -0.5 * (self.count * np.log(2 * np.pi) + self.log_var + self.square)
        return log

    def log_any_scale(self) -> Vector:
        """The log marginal density if noise and covariances share an unknown scale s, (P,).

        The squared scale has the prior density 1 / s^2.  Up to a constant that all hierarchies
        share this is the log of exp(-log_var / 2) Gamma(n / 2) (pi square)^(-n / 2).
        """
        half = np.maximum(self.count, 1.0) / 2
        log_square = np.log(np.pi * np.maximum(self.square, np.finfo(float).tiny))
        log: Vector = gammaln(half) - half * log_square - self.log_var / 2
        return np.where(self.count > 0, log, 0.0)

    def put(self, populations: Indices, other: "Evidence") -> None:
        """Replace that of some populations."""
        self.parts[:, populations] = other.parts

    def add(self, populations: Indices, other: "Evidence") -> None:
        """Add that of other rewards of some populations, each named once."""
        self.parts[:, populations] += other.parts

    def joined(self, other: "Evidence") -> "Evidence":
        """The populations of both, copied."""
        return Evidence(np.concatenate([self.parts, other.parts], axis=1))
