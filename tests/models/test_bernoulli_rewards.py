"""Clicks are 0 or 1."""

import numpy as np
import pytest

from hierbandits.models import BernoulliRewards


@pytest.mark.parametrize(
    ("reward", "exposure", "message"),
    [
        (2.0, 1.0, r"rewards must be 0 or 1, got 2 at \[1\]"),
        (0.5, 1.0, "rewards must be 0 or 1, got 0.5"),
        (1.0, 2.0, "exposure must be 1 for bernoulli rewards"),
    ],
)
def test_wrong_rewards_are_refused_by_name(reward, exposure, message):
    with pytest.raises(ValueError, match=message):
        BernoulliRewards().check("rewards", np.array([1.0, reward]), np.array([1.0, exposure]))


def test_sums_of_clicks_are_at_most_their_number():
    family = BernoulliRewards()
    family.check_totals("sums", np.array([0.0, 7.0]), np.array([3.0, 7.0]))
    with pytest.raises(ValueError, match="sums must be numbers of successes"):
        family.check_totals("sums", np.array([8.0]), np.array([7.0]))
