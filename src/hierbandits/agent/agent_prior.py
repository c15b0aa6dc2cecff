"""What an agent begins with: the prior or the start that it is given, or what its arms imply."""

from collections.abc import Collection, Mapping
from typing import Any

from hierbandits.beliefs.model_kinds import kind_of
from hierbandits.checks import checked_names, count, one_of, real_array
from hierbandits.logs.start import Start
from hierbandits.models.gaussian_rewards import GaussianRewards
from hierbandits.models.generalized_hierarchy import with_family
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.model import Model
from hierbandits.models.reward_families import checked_family
from hierbandits.models.reward_family import RewardFamily
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.policies.arms import num_axes
from hierbandits.policies.recipes import POLICIES, USUAL, Recipe


def agent_prior(
    prior: Model | Start | None,
    num_features: int | None,
    arms: Any,
    rewards: str | RewardFamily | None = None,
) -> tuple[Model, Any, Start | None]:
    """The prior, the arms and the start of an agent that is given these arguments.

    Where the prior names its arms, these are the agent's.  If they are given in another order, the
    prior is put in that order; other names are refused.  A start's arms keep their order.
    `rewards` is the family of rewards, if they are not Gaussian; a prior or a start of a family
    has its own, and no other is taken.
    """
    if prior is None:
        return with_family(prior_from_arms(arms, num_features), rewards), arms, None
    if isinstance(prior, Start):
        _check_family(prior, rewards)
    else:
        prior = with_family(prior, rewards)
    if num_features is not None:
        raise ValueError(f"num_features must not be given with a prior, got {num_features!r}")
    if isinstance(prior, Start):
        names = tuple(arms) if isinstance(arms, Collection) else arms
        if prior.arms is not None and names not in (None, prior.arms):
            raise ValueError(
                f"arms must be those of the start, {prior.arms!r:.80}, got {arms!r:.80}"
            )
        return prior.prior, arms if prior.arms is None else prior.arms, prior
    kind_of(prior)
    if prior.num_levels < 2:
        raise ValueError(f"prior must have a level of tasks below its root, got {prior}")
    if prior.arms is None:
        return prior, arms, None
    if arms is None:
        return prior, prior.arms, None
    if isinstance(arms, str | Mapping) or not isinstance(arms, Collection):
        raise ValueError(f"arms must be the names of the prior's arms, got {arms!r:.80}")
    return prior.reordered(tuple(arms)), arms, None


def _check_family(start: Start, rewards: str | RewardFamily | None) -> None:
    """Raise an error unless a start was learned from rewards of this family."""
    if rewards is None:
        return
    if isinstance(start.prior, GaussianHierarchy | UnknownWidths):
        family = checked_family(rewards)
        if isinstance(family, GaussianRewards):
            return
        raise ValueError(
            f"rewards must be those of the start, which was learned from a log as gaussian, got "
            f"{family.NAME}: learn_prior(..., rewards={family.NAME!r}) learns a start for them"
        )
    with_family(start.prior, rewards)


def prior_from_arms(arms: Any, num_features: int | None) -> UnknownWidths:
    """What an agent without a prior assumes: so many features, or else the form of its arms."""
    if num_features is not None:
        return UnknownWidths.of(count("num_features", num_features, least=1), armed=False)
    if arms is None:
        raise ValueError("prior must be given, or num_features, or arms, got none of them")
    if isinstance(arms, str) or not isinstance(arms, Collection):
        raise ValueError(f"arms must be several arms, got {arms!r:.80}")
    if len(arms) == 0:
        raise ValueError("arms must hold at least one arm, got none")
    values: Any = list(arms.values()) if isinstance(arms, Mapping) else arms
    if isinstance(arms, Mapping) or num_axes(values) == 2:
        table = real_array("arms", values, (None, None))
        return UnknownWidths.of(table.shape[1], armed=False)
    return UnknownWidths.of(len(checked_names("arms", values)), armed=True)


def checked_recipe(policy: str | Recipe | None, name: str = "policy") -> Recipe:
    """The recipe of a policy that is given by name or as it is, or the usual one.

    `name` is what the one who gives it calls it.
    """
    policy = USUAL if policy is None else policy
    recipe = policy if isinstance(policy, Recipe) else POLICIES[one_of(name, policy, POLICIES)]
    if recipe.knows_truth:
        raise ValueError(f"{name} must not need the truth, which no agent knows, got {policy!r}")
    return recipe
