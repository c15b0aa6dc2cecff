"""The mean and standard deviation of rewards that come in batches."""

import numpy as np
import pytest

from hierbandits.logs import RewardScale


@pytest.mark.parametrize("sizes", [(1000,), (1, 1, 998), (300, 300, 400)])
def test_the_spread_of_rewards_does_not_cancel(sizes):
    rewards = np.random.default_rng(5).normal(size=1000)
    scale = RewardScale()
    for part in np.split(rewards + 1e9, np.cumsum(sizes)[:-1]):
        scale.add(part)
    shifted = rewards + 1e9 - 1e9  # exact: what the sum kept of them
    assert scale.count == 1000
    assert scale.mean == pytest.approx(1e9 + shifted.mean(), rel=1e-15)
    assert scale.std == pytest.approx(shifted.std(), rel=1e-6)
    with pytest.raises(ValueError, match="subtract a constant from all rewards first"):
        scale.check()


def test_equal_rewards_and_a_modest_offset_pass():
    for rewards in (np.full(1001, 0.1), np.array([1e4, -1e4, 1.0]), 9e3 + np.array([-1.0, 1.0])):
        scale = RewardScale()
        scale.add(rewards)
        scale.check()


@pytest.mark.parametrize(
    ("batches", "number"),
    [([], 0), ([[2.0, 2.0], [2.0]], 1), ([[0.0], [1.0, 0.0]], 2), ([[0.0, 1.0], [3.0, 0.5]], 3)],
)
def test_distinct_rewards_are_counted_up_to_three(batches, number):
    scale = RewardScale()
    for batch in batches:
        scale.add(np.array(batch))
    assert scale.num_values == number
