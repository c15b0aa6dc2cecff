"""Sums of rewards whose noises differ by arm, to be learned with one noise."""

from dataclasses import dataclass

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeighedSums(TaskSums):
    """Armed sums in which a reward of arm a counts `weights[a]` times; n has the rewards.

    A reward with noise sigma_a says as much of its arm's mean as (sigma / sigma_a)^2 rewards with
    noise sigma.  So a hierarchy, which has one noise, learns from such sums what one with a noise
    for each arm would.  The evidence alone is another, by a factor that no hierarchy changes.
    """

    @classmethod
    def of(cls, sums: TaskSums, squares: Matrix, weights: Vector) -> "WeighedSums":
        """Weigh sums; `squares` are those of each task's and arm's rewards, (tasks, K)."""
        if not sums.is_armed or not (np.isfinite(weights) & (weights > 0)).all():
            raise ValueError(f"weights must be positive, one for each arm, got {weights!r:.80}")
        return cls(sums.xx * weights, sums.xy * weights, squares @ weights, sums.n)
