"""Successes are whole numbers up to the number of trials."""

import numpy as np
import pytest

from hierbandits.models import BinomialRewards


@pytest.mark.parametrize(
    ("reward", "exposure", "message"),
    [
        (4.0, 3.0, "rewards must be numbers of successes, from 0 to .* got 4"),
        (-1.0, 3.0, "rewards must be numbers of successes"),
        (1.5, 3.0, "rewards must be numbers of successes"),
        (1.0, 2e9, r"exposure must be in \[1e-09, 1e\+09\], got 2e\+09"),
        (1.0, 2.5, "exposure must be whole numbers of trials, got 2.5"),
    ],
)
def test_wrong_rewards_are_refused_by_name(reward, exposure, message):
    with pytest.raises(ValueError, match=message):
        BinomialRewards().check("rewards", np.array([1.0, reward]), np.array([1.0, exposure]))


def test_draws_stay_within_the_trials_at_the_ends():
    ends = np.array([1e-300, 1e-9, 0.5, 1 - 1e-16])
    for eta in (-800.0, -30.0, 0.0, 30.0, 800.0):
        drawn = BinomialRewards().draw(np.full(4, eta), np.full(4, 5.0), ends)
        BinomialRewards().check("rewards", drawn, np.full(4, 5.0))
