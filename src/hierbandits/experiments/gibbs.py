"""Thompson sampling from the exact posterior of clicks: what HierTS of clicks is compared with."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from hierbandits.beliefs.gibbs_belief import GibbsBelief
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.model import Model
from hierbandits.models.variants import as_given
from hierbandits.policies.policy import Policy
from hierbandits.policies.recipes import Recipe
from hierbandits.policies.thompson_rule import thompson


@dataclass(frozen=True, slots=True)
class Gibbs(Recipe):
    """A policy with a `GibbsBelief`."""

    def __call__(
        self,
        prior: Model,
        num_tasks: int | tuple[int, ...] = 0,
        num_populations: int = 1,
        truth: ArrayLike | None = None,
        *,
        population: ArrayLike | None = None,
    ) -> Policy:
        """A new policy, of populations that have `num_tasks` tasks each."""
        if not isinstance(prior, GeneralizedHierarchy):
            raise ValueError(f"prior must be a GeneralizedHierarchy of clicks, got {prior!r:.80}")
        belief = GibbsBelief(prior, num_tasks, num_populations, population=population)
        return Policy(belief, self.rule)


GIBBS = Gibbs(as_given, thompson, "HierTS with draws from the exact posterior of clicks")
