"""Rewards around their means: the law, and luck that belongs to the event."""

import numpy as np
import pytest

from hierbandits.environments.events import Events
from hierbandits.environments.reward_law import check_reward_law, draw_rewards
from hierbandits.keyed_random import Stream

LUCK = Stream(3, "reward")


def _events(size):
    return Events(np.arange(size), np.arange(size) % 5, np.zeros(size, int))


def test_gaussian_rewards_are_the_mean_plus_scaled_luck():
    events, means = _events(50), np.linspace(-2, 2, 50)
    rewards = draw_rewards("gaussian", means, 0.7, LUCK, events)
    np.testing.assert_allclose((rewards - means) / 0.7, LUCK.normals(events, 1)[:, 0], rtol=1e-12)


def test_bernoulli_rewards_are_ones_as_often_as_their_mean_says():
    events = _events(20_000)
    for mean in (0.0, 0.3, 1.0):
        rewards = draw_rewards("bernoulli", np.full(20_000, mean), 0.7, LUCK, events)
        assert set(rewards) == {0.0, 1.0} if 0 < mean < 1 else {mean}
        assert abs(rewards.mean() - mean) <= 6 * np.sqrt(mean * (1 - mean) / 20_000)


def test_a_higher_mean_never_turns_a_win_into_a_loss():
    """Two policies that play different arms of an event share its luck."""
    events = _events(2000)
    low, high = (
        draw_rewards("bernoulli", np.full(2000, mean), 1.0, LUCK, events) for mean in (0.3, 0.5)
    )
    assert (high >= low).all()
    assert 0.15 < (high - low).mean() < 0.25


def test_other_laws_are_refused():
    check_reward_law("gaussian")
    check_reward_law("bernoulli")
    with pytest.raises(ValueError, match="rewards must be gaussian or bernoulli, got 'poisson'"):
        check_reward_law("poisson")
