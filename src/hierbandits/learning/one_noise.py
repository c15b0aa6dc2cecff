"""Where each arm has its noise: what the rest of a report, which knows one noise, learns from."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.beliefs.weighed_sums import WeighedSums
from hierbandits.types import Matrix, Vector

if TYPE_CHECKING:
    from hierbandits.fitting import Fit


@dataclass(frozen=True, slots=True, eq=False)
class OneNoise:
    """The sums of a log as if all its rewards had the noise of the fit's prior."""

    sums: TaskSums
    variances: Vector | None  # of the arms' noises over that of the prior's, (K,); None: all are 1

    @classmethod
    def of(cls, fit: "Fit", sums: TaskSums, squares: Matrix | None) -> "OneNoise":
        """Weigh the sums, and the squares of each task's and arm's rewards, by a fit's noises."""
        if squares is None or not fit.has_noise_by_arm:
            return cls(sums, None)
        variances = (fit.noise_width.std / fit.prior.noise_std) ** 2
        return cls(WeighedSums.of(sums, squares, 1 / variances), variances)
