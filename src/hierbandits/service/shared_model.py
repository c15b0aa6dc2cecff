"""What workers that share a policy can believe in: models whose tasks tell sums."""

from hierbandits.agent.agent_prior import checked_recipe
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.model import Model
from hierbandits.models.reward_family import RewardFamily
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.service.policy_settings import PolicySettings

_UNSHARED = {
    "mode": "live",
    "sticky": False,
    "most_tasks": None,
    "most_pending": None,
}
"""Settings that need one process, which sees all events in order, and what leaves them out."""


SharedModel = GaussianHierarchy | UnknownWidths | GeneralizedHierarchy | UnknownFamilyWidths
"""What tasks tell under such a model are sums: of Gaussian rewards, or of the sites of others."""


def shared_model(settings: PolicySettings, prior: Model | None = None) -> SharedModel:
    """What a policy believes in; a ValueError that names what workers cannot share.

    `prior` is what it assumes, if it was given more arms than its settings have.
    """
    for name, unset in _UNSHARED.items():
        value = getattr(settings, name)
        if value != unset:
            raise ValueError(
                f"{name} must be {unset!r} where workers share a policy, got {value!r}"
            )
    recipe = checked_recipe(settings.rule, "rule")
    if recipe.forced:
        raise ValueError(
            "rule must not count the decisions of a task where workers share a policy, got "
            f"{settings.rule!r}"
        )
    if prior is None:
        prior = settings.make_agent(lambda event: None, seed=0).prior
    model = recipe.believe(prior)
    _check_rule(settings.rule, prior, model)
    if not isinstance(model, SharedModel):
        raise ValueError(
            "prior must be a Gaussian hierarchy, with or without a family of rewards, or none, "
            f"where workers share a policy, got {model!r:.80}"
        )
    if model.num_levels != 2:
        raise ValueError(
            "prior must have two levels, a population and its tasks, where workers share a policy, "
            f"got {model.num_levels}"
        )
    return model


def _check_rule(rule: str | None, prior: Model, model: Model) -> None:
    """Raise an error that names the rule if it is the rule that makes a prior unfit."""
    if prior.num_levels == 2 and model.num_levels == 1:
        raise ValueError(
            f"rule must keep tasks apart where workers share a policy, got {rule!r}, which takes "
            "all tasks for one"
        )


def family_of(model: Model) -> RewardFamily | None:
    """The family of a model's rewards; None where they are Gaussian."""
    if isinstance(model, GeneralizedHierarchy | UnknownFamilyWidths):
        return model.rewards
    return None
