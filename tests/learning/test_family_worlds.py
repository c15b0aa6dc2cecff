"""Worlds whose rewards belong to a family."""

import numpy as np

from hierbandits.learning.family_worlds import FamilyWorlds
from hierbandits.models import FAMILIES


def test_rewards_are_clicks_and_regret_is_in_rates():
    theta = np.log(np.array([[[0.25, 1.0]], [[4.0, 0.25]]]))  # odds of 2 worlds, a task, 2 arms
    worlds = FamilyWorlds(theta, np.ones(2), None, 0, family=FAMILIES["bernoulli"]())
    clicks, rounds = np.zeros(2), 4000
    for interaction in range(rounds):
        events = worlds.events(interaction)
        rewards, regret = worlds.play(events, worlds.offer(events), np.zeros(2, np.intp))
        assert set(rewards) <= {0.0, 1.0}
        np.testing.assert_allclose(regret, [0.5 - 0.2, 0.0], atol=1e-12)
        clicks += rewards
    np.testing.assert_allclose(clicks / rounds, [0.2, 0.8], atol=5 * 0.4 / rounds**0.5)
