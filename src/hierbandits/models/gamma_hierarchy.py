"""Counts of arms without a link: tasks whose rates are drawn from Gammas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from hierbandits.kernels.hyper_grid import GAMMA
from hierbandits.models.grid_hierarchy import RESOLUTION, GridHierarchy
from hierbandits.models.poisson_rewards import PoissonRewards
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Name


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class GammaHierarchy(GridHierarchy):
    """Tasks whose arms have rates about an unknown mean m, of an unknown width t.

        log m ~ N(hyper_mean, hyper_std^2)                          for each arm
        log t ~ N(log task_std, log(task_factor)^2)
        theta ~ Gamma(1 / t^2), scaled to the mean m                in each task
        y     ~ Poisson(exposure * theta)

    t is the standard deviation of tasks' rates over their mean.  `hyper_mean` and `hyper_std` are
    log rates, 0.7 for 2 per unit of exposure.  See `GridHierarchy`.
    """

    FAMILY: ClassVar[RewardFamily] = PoissonRewards()
    LIKELIHOOD: ClassVar[int] = GAMMA

    def __init__(
        self,
        num_arms: int | None = None,
        *,
        hyper_mean: ArrayLike = 0.0,
        hyper_std: ArrayLike = 1.5,
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
