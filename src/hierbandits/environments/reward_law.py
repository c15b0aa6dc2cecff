"""How a reward is drawn around its mean, where that is given: Gaussian or Bernoulli."""

from typing import Literal, TypeAlias, get_args

from hierbandits.environments.events import Events
from hierbandits.keyed_random import Stream
from hierbandits.types import Vector

RewardLaw: TypeAlias = Literal["gaussian", "bernoulli"]


def check_reward_law(rewards: str) -> None:
    """Raise a ValueError unless `rewards` names a law."""
    known = get_args(RewardLaw)
    if rewards not in known:
        raise ValueError(f"rewards must be {' or '.join(known)}, got {rewards!r}")


def draw_rewards(
    law: RewardLaw, means: Vector, noise_std: float, luck: Stream, events: Events
) -> Vector:
    """One reward for each event, (E,), from its mean reward and the event's own luck.

    gaussian:   y ~ N(mean, noise_std^2)
    bernoulli:  y ~ Ber(mean), where noise_std does not matter
    """
    if law == "bernoulli":
        wins: Vector = (luck.uniforms(events, 1)[:, 0] < means).astype(float)
        return wins
    rewards: Vector = means + noise_std * luck.normals(events, 1)[:, 0]
    return rewards
