"""What workers that share a policy can believe in: models whose tasks tell sums."""

from hierbandits.agent.agent_prior import checked_recipe
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.model import Model
from hierbandits.models.reward_family import RewardFamily
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.service.policy_settings import PolicySettings

_UNSHARED = {
    "mode": "live",
    "sticky": False,
    "guardrails": [],
    "ratio_check": "none",
    "reward_wait": None,
    "default_reward": None,
    "most_tasks": None,
    "most_pending": None,
}
"""Settings that need one process, which sees all events in order, and what leaves them out."""


SharedModel = GaussianHierarchy | UnknownWidths | GeneralizedHierarchy
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
    recipe = checked_recipe(settings.rule)
    if recipe.forced:
        raise ValueError(
            "rule must not count the decisions of a task where workers share a policy, got "
            f"{settings.rule!r}"
        )
    if prior is None:
        prior = settings.make_agent(lambda event: None, seed=0).prior
    model = recipe.believe(prior)
    if not isinstance(model, SharedModel):
        raise ValueError(
            "prior must be a GeneralizedHierarchy, which states all widths, where workers share a "
            f"policy whose rewards are of a family, got {model!r:.80}: learn a prior from a log "
            "(`hierbandits learn --rewards ...`) and give it"
        )
    if model.num_levels != 2:
        raise ValueError(
            "prior must have two levels, a population and its tasks, where workers share a policy, "
            f"got {model.num_levels}"
        )
    return model


def family_of(model: Model) -> RewardFamily | None:
    """The family of a model's rewards; None where they are Gaussian."""
    return model.rewards if isinstance(model, GeneralizedHierarchy) else None
