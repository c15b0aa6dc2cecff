"""What workers that share a policy can believe in: models whose tasks tell sums."""

from hierbandits.agent.agent_prior import checked_recipe
from hierbandits.models.hierarchy import GaussianHierarchy
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


def shared_model(settings: PolicySettings) -> GaussianHierarchy | UnknownWidths:
    """What a policy believes in; a ValueError that names what workers cannot share."""
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
    model = recipe.believe(settings.make_agent(lambda event: None, seed=0).prior)
    if not isinstance(model, GaussianHierarchy | UnknownWidths):
        raise ValueError(
            "rewards must be Gaussian where workers share a policy, since what tasks tell of others"
            f" is no sum of them, got {model!r:.80}"
        )
    if model.num_levels != 2:
        raise ValueError(
            "prior must have two levels, a population and its tasks, where workers share a policy, "
            f"got {model.num_levels}"
        )
    return model
