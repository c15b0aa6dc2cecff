"""The named families of rewards."""

from typing import Any

from hierbandits.checks import one_of
from hierbandits.models.bernoulli_rewards import BernoulliRewards
from hierbandits.models.binomial_rewards import BinomialRewards
from hierbandits.models.gaussian_rewards import GaussianRewards
from hierbandits.models.poisson_rewards import PoissonRewards
from hierbandits.models.reward_family import RewardFamily

FAMILIES: dict[str, type[RewardFamily]] = {
    kind.NAME: kind for kind in (GaussianRewards, BernoulliRewards, BinomialRewards, PoissonRewards)
}
"""Every family that can be asked for by name, and loaded from a file."""


def checked_family(rewards: str | RewardFamily) -> RewardFamily:
    """The family that is given by name or as it is."""
    if isinstance(rewards, RewardFamily):
        return rewards
    return FAMILIES[one_of("rewards", rewards, FAMILIES)]()


def family_from_dict(parts: dict[str, Any]) -> RewardFamily:
    """The family that `RewardFamily.to_dict` described, checked again."""
    own = dict(parts)
    kind = FAMILIES[one_of("rewards", own.pop("name", None), FAMILIES)]
    try:
        return kind(**own)
    except TypeError:
        raise ValueError(
            f"rewards must have the parts of a {kind.NAME} family, got {own}"
        ) from None
