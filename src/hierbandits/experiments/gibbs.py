"""Thompson sampling from the exact posterior of clicks: what HierTS of clicks is compared with."""

from hierbandits.beliefs.gibbs_belief import GibbsBelief
from hierbandits.models.variants import as_given
from hierbandits.policies.recipes import Recipe
from hierbandits.policies.thompson_rule import thompson

GIBBS = Recipe(
    as_given, thompson, "HierTS with draws from the exact posterior of clicks", make=GibbsBelief
)
