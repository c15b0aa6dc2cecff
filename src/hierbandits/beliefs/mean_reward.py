"""What is known of mean rewards, as opposed to linear predictors."""

from typing import NamedTuple

from hierbandits.types import Vector


class MeanReward(NamedTuple):
    """The posterior mean and standard deviation of each event's mean reward.

    Where rewards are Gaussian, the mean reward is the linear predictor x @ theta itself; see
    `Prediction` for that.
    """

    mean: Vector  # (E,)
    std: Vector  # (E,)
