"""Whether a frozen policy's weights can be trusted."""

from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import normal_quantile
from hierbandits.evaluation.estimators import WEIGHT, effective_size
from hierbandits.evaluation.weighing import Tally
from hierbandits.types import Matrix

FEW_OVERALL = 100
"""Effective rows below which an estimate is called rough."""

SURE = 4.0
"""Standard errors beyond which a gap is not put down to chance."""


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """How far the rows can be trusted to tell a frozen policy's value."""

    rows: int
    effective_rows: float
    largest_weight: float
    mean_weight: float  # one, but for chance, if the propensities are right
    mean_weight_error: float
    mean_weight_low: float
    mean_weight_high: float
    unsupported: float  # share of its choices that the log never made in the same task
    unsupported_tasks: int

    @property
    def contradicts_propensities(self) -> bool:
        """Whether the mean weight is further from 1 than chance explains.

        Where arms could never be played, weights fall short of 1 by the share of those choices.
        """
        gap = max(self.mean_weight - 1, 1 - self.unsupported - self.mean_weight)
        return gap > max(SURE * self.mean_weight_error, 1e-6)

    @classmethod
    def of(cls, tally: Tally, plays: Matrix, confidence: float) -> "Diagnostics":
        """`plays` counts how often the log plays each task's arms, (tasks, K)."""
        pooled = tally.moments.pooled()
        mean, error = pooled.mean[0, WEIGHT], pooled.error(1.0, 0.0, 0.0, 0.0)[0]
        lost = np.where(plays == 0, tally.choices, 0.0).sum(axis=1)
        half_length = normal_quantile(confidence) * error
        return cls(
            int(pooled.n[0]), float(effective_size(pooled)[0]), float(tally.largest.max()),
            float(mean), float(error), float(mean - half_length), float(mean + half_length),
            float(lost.sum() / pooled.n[0]), int((lost > 0).sum()),
        )  # fmt: skip
