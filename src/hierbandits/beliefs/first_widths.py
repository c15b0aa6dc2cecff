"""A first look at widths: one for all coordinates, from which draws of them begin."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import LARGEST
from hierbandits.kernels.width_conditionals import LEAST_NOISE
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Vector

RATIOS = 2.0 ** np.arange(-6, 5)
"""Task widths that are tried, in units of the noise."""

_WIDE = 1e3  # the width of mu, in units of the noise
_LOOKS, _CLOSE = 2, 16  # closer looks, and the ratios of each
_LEAST_WEIGHT = 1e-5  # of a ratio that matters


@dataclass(frozen=True, slots=True, eq=False)
class FirstWidths:
    """How probable widths are that all coordinates share, each with the noise that it leaves.

    Where tasks have few rewards each, a width is hard to tell from the noise, and draws go slowly
    from one to the other: they had better begin where they will be.
    """

    ratio: Vector  # task widths in units of the noise, each the same number of times the last
    weight: Vector  # of each ratio
    noise_std: Vector  # the most probable one, for each ratio

    @classmethod
    def of(
        cls, sums: TaskSums, mean: Vector, noise_std: float | None, ratio: Vector = RATIOS
    ) -> "FirstWidths":
        """Compare ratios by their evidence; features have size one.

        `mean` is the hyper-mean, and `noise_std` is None if it is to be learned.
        """
        one = np.ones(mean.size) if sums.is_armed else np.eye(mean.size)
        parts = []
        for width in ratio.tolist():
            scaled = GaussianHierarchy.of_levels(
                hyper_mean=np.clip(mean, -LARGEST, LARGEST),
                covs=[_WIDE**2 * one, width**2 * one],
                noise_std=1.0,
                armed=sums.is_armed,
            )
            belief = Belief(scaled, len(sums.n))
            belief._raw_learn_past(np.arange(len(sums.n)), sums)
            parts.append(belief.evidence.parts[:, 0])
        count, log_var, square = np.array(parts).T
        if noise_std is None:
            noise_var = np.maximum(square / count, LEAST_NOISE**2)  # rewards may all be zero
        else:
            noise_var = np.full(count.size, noise_std**2)
        log = -0.5 * (count * np.log(noise_var) + log_var + square / noise_var)
        weight = np.exp(log - log.max())
        return cls(ratio, weight / weight.sum(), np.sqrt(noise_var))

    @classmethod
    def closely(cls, sums: TaskSums, mean: Vector, noise_std: float | None) -> "FirstWidths":
        """Those of ratios so near to each other that none has all the weight."""
        first = cls.of(sums, mean, noise_std)
        for _ in range(_LOOKS):
            near = np.flatnonzero(first.weight > _LEAST_WEIGHT)
            low, high = max(near[0] - 1, 0), min(near[-1] + 1, first.ratio.size - 1)
            ratio = np.geomspace(first.ratio[low], first.ratio[high], _CLOSE)
            first = cls.of(sums, mean, noise_std, ratio)
        return first

    def middle(self) -> tuple[float, float]:
        """A task width and a noise in the middle."""
        noise = float(np.exp(self.weight @ np.log(self.noise_std)))
        return float(np.exp(self.weight @ np.log(self.ratio))) * noise, noise

    def drawn(self, rng: Generator) -> tuple[float, float]:
        """A task width and a noise, as probable as they are; widths lie about the ratios."""
        place = int(rng.choice(self.ratio.size, p=self.weight))
        noise = float(self.noise_std[place])
        about = (self.ratio[1] / self.ratio[0]) ** rng.uniform(-0.5, 0.5)  # half a step either way
        return float(self.ratio[place] * about) * noise, noise
