"""Tasks whose means are given: rewards and regret are those of the means."""

import numpy as np
import pytest

from hierbandits import GaussianHierarchy
from hierbandits.environments import KnownBandit
from hierbandits.environments.events import Events

PRIOR = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.5, noise_std=0.4)
MEANS = np.array([[0.2, 0.9, 0.5], [0.7, 0.1, 0.3]])


@pytest.mark.parametrize("rewards", ["gaussian", "bernoulli"])
def test_tasks_that_are_given_have_their_means(rewards):
    worlds = KnownBandit(means=MEANS, prior=PRIOR, rewards=rewards).worlds(
        np.random.default_rng(0), 5, 100, 20_000
    )
    np.testing.assert_allclose(worlds.truth, np.tile(MEANS.mean(axis=0), (20_000, 1)))
    run, zeros = 100 + np.arange(20_000), np.zeros(20_000, int)
    for task in range(2):
        events = Events(run, zeros + task, zeros)
        for arm in range(3):
            played, regret = worlds.play(events, worlds.offer(events), zeros + arm)
            np.testing.assert_allclose(regret, MEANS[task].max() - MEANS[task, arm])
            mean = MEANS[task, arm]
            std = 0.4 if rewards == "gaussian" else np.sqrt(mean * (1 - mean))
            assert abs(played.mean() - mean) < 5 * std / np.sqrt(20_000)
            np.testing.assert_allclose(played.std(), std, rtol=0.03)


def test_luck_differs_from_run_to_run_and_the_tasks_do_not():
    environment = KnownBandit(means=MEANS, prior=PRIOR)
    assert environment.num_tasks == 2
    one, other = (
        environment.worlds(np.random.default_rng(seed), 5, first, 3)
        for seed, first in ((0, 0), (1, 3))
    )
    np.testing.assert_array_equal(one.truth, other.truth)
    events = Events(np.arange(6), np.zeros(6, int), np.zeros(6, int))
    arms, choices = one.offer(events), np.ones(6, int)
    rewards = one.play(events, arms, choices)[0]
    np.testing.assert_array_equal(rewards, other.play(events, arms, choices)[0])
    assert len(set(rewards)) == 6


def test_tasks_that_are_given_are_checked():
    for means, rewards, message in (
        (np.ones((2, 4)), "gaussian", "an arm for each column of means"),
        (np.empty((0, 3)), "gaussian", "an arm for each column of means"),
        (np.full((2, 3), np.nan), "gaussian", "means must be finite"),
        (np.full((2, 3), 1.5), "bernoulli", "means must be in"),
        (np.ones((2, 3)), "poisson", "rewards must be gaussian or bernoulli"),
    ):
        with pytest.raises(ValueError, match=message):
            KnownBandit(means=means, prior=PRIOR, rewards=rewards)


def test_choices_are_arms_of_the_events():
    worlds = KnownBandit(means=MEANS, prior=PRIOR).worlds(np.random.default_rng(0), 5, 0, 2)
    events = Events(np.array([0, 1]), np.array([0, 1]), np.zeros(2, int))
    arms = worlds.offer(events)
    for choices, message in (([0, 3], "choices must be in"), ([0], "choices must match 2 events")):
        with pytest.raises(ValueError, match=message):
            worlds.play(events, arms, choices)
    with pytest.raises(ValueError, match=r"events\.task must be in"):
        worlds.offer(events._replace(task=np.array([0, 2])))
