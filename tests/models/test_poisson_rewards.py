"""Counts are whole numbers."""

import numpy as np
import pytest

from hierbandits.models import PoissonRewards


@pytest.mark.parametrize(
    ("reward", "exposure", "message"),
    [
        (-1.0, 1.0, "rewards must be counts, whole numbers of .* got -1"),
        (0.5, 1.0, "rewards must be counts"),
    ],
)
def test_wrong_rewards_are_refused_by_name(reward, exposure, message):
    with pytest.raises(ValueError, match=message):
        PoissonRewards().check("rewards", np.array([1.0, reward]), np.array([1.0, exposure]))


def test_draws_are_counts_at_the_ends():
    ends = np.array([1e-300, 1e-9, 0.5, 1 - 1e-16])
    for eta in (-700.0, -30.0, 0.0, 5.0):
        PoissonRewards().check(
            "rewards", PoissonRewards().draw(np.full(4, eta), np.ones(4), ends), np.ones(4)
        )
