"""Full-Bayes Thompson sampling with unknown widths: what AdaptiveHierTS is compared with."""

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.beliefs.review import Review
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.beliefs.width_refit import WidthRefit
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.models.variants import unknown_widths
from hierbandits.policies.recipes import Recipe
from hierbandits.policies.thompson_rule import thompson
from hierbandits.types import Vector

STEPS = 120
"""Of the chain behind every draw of the widths.  With 40 steps regret is a little higher."""


class DrawnBelief(AdaptiveBelief):
    """In every round its widths, correlations and noise are one draw from their posterior."""

    def __init__(
        self,
        prior: UnknownWidths,
        num_tasks: int | tuple[int, ...] = 0,
        num_populations: int = 1,
        hyper_means: ArrayLike | None = None,
        *,
        population: ArrayLike | None = None,
    ) -> None:
        if not isinstance(prior, UnknownWidths):
            raise ValueError(f"prior must be of Gaussian rewards, got {prior!r:.80}")
        super().__init__(prior, num_tasks, num_populations, hyper_means, population=population)
        self._rng = np.random.default_rng(0)

    def _fit(self, rows: TaskSums, before: GaussianHierarchy | None) -> GaussianHierarchy:
        refit = WidthRefit(self.prior, rows, before, draws=STEPS, rng=self._rng)
        refit.advance()
        return refit.last()

    def _look(self, review: Review | None, work: float) -> None:
        self._refit(np.flatnonzero(self._evidence.count >= self.due))

    def _due_after(self, count: Vector) -> Vector:
        return count + 1


FULL_BAYES = Recipe(
    unknown_widths, thompson, "Thompson sampling of the widths too", make=DrawnBelief
)
