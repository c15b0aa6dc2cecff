"""Clicks of arms without a link: tasks whose success rates are drawn from Betas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from hierbandits.kernels.hyper_grid import BETA
from hierbandits.models.binomial_rewards import BinomialRewards
from hierbandits.models.grid_hierarchy import RESOLUTION, GridHierarchy
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Name


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class BetaHierarchy(GridHierarchy):
    """Tasks whose arms have success rates about an unknown mean m, of an unknown width t.

        log(m / (1 - m)) ~ N(hyper_mean, hyper_std^2)                      for each arm
        log t            ~ N(log task_std, log(task_factor)^2)
        theta            ~ Beta(c m, c (1 - m)),  c = 1 / (t^2 m (1 - m))  in each task
        y                ~ Bernoulli(theta), or Binomial(trials, theta)

    Given c the standard deviation of theta is sqrt(m (1 - m) / (c + 1)); t is about that of log
    odds, where it is small.  `hyper_mean` and `hyper_std` are log odds, -2.2 for 10 %.  See
    `GridHierarchy`.
    """

    FAMILY: ClassVar[RewardFamily] = BinomialRewards()
    LIKELIHOOD: ClassVar[int] = BETA

    def __init__(
        self,
        num_arms: int | None = None,
        *,
        hyper_mean: ArrayLike = 0.0,
        hyper_std: ArrayLike = 2.5,
        task_std: ArrayLike = 0.5,
        task_factor: ArrayLike = 3.0,
        arms: Sequence[Name] | None = None,
        resolution: int = RESOLUTION,
    ) -> None:
        self._assume(
            num_arms,
            arms,
            resolution,
            {
                "hyper_mean": hyper_mean,
                "hyper_std": hyper_std,
                "task_std": task_std,
                "task_factor": task_factor,
            },
        )
