"""Worlds that a log allows."""

import numpy as np
import pytest
from support.learn_logs import drawn, other_prior, sums_of
from support.oracle import full

from hierbandits.learning.log_offers import LogOffers
from hierbandits.learning.log_worlds import LogWorlds, drawn_tasks


@pytest.mark.parametrize("armed", [True, False])
def test_tasks_are_joint_draws_given_the_log(armed):
    rows = drawn(5, armed=armed, tasks=6, events=8)
    prior, sums = other_prior(rows), sums_of(rows)
    own, new, noise = drawn_tasks(
        np.random.default_rng(0), [prior], sums, np.array([1, 4]), 2, 4000
    )
    assert (own.shape, new.shape) == ((4000, 2, 3), (4000, 2, 3))
    np.testing.assert_array_equal(noise, prior.noise_std)
    joint = rows.joint(prior)  # tasks first, then mu
    mu = slice(18, 21)
    for place, task in enumerate((1, 4)):
        part = slice(3 * task, 3 * task + 3)
        _close(own[:, place], joint.mean[part], joint.cov[part, part])
        _cross(own[:, place], new[:, 0], joint.cov[part, mu])
    _close(new[:, 1], joint.mean[mu], joint.cov[mu, mu] + full(prior.task_cov))
    _cross(new[:, 0], new[:, 1], joint.cov[mu, mu])


def _close(draws, mean, cov):
    error = np.sqrt(np.diagonal(cov) / len(draws))
    assert (np.abs(draws.mean(0) - mean) < 6 * error).all()
    _cross(draws, draws, cov)


def _cross(one, other, cov):
    found = (one - one.mean(0)).T @ (other - other.mean(0)) / len(one)
    scale = np.outer(one.std(0), other.std(0))
    assert (np.abs(found - cov) < 6 * np.sqrt(2 / len(one)) * scale).all()


def test_worlds_take_hierarchies_in_turn():
    rows = drawn(5, armed=True, tasks=6, events=8)
    one, two = (
        other_prior(rows).with_levels(np.full(3, mean), [np.full(3, 1e-9), np.full(3, 1e-9)], noise)
        for mean, noise in ((1.0, 0.5), (5.0, 0.7))
    )
    empty = sums_of(rows).rows(np.arange(0))
    _, new, noise = drawn_tasks(np.random.default_rng(0), [one, two], empty, np.arange(0), 1, 5)
    np.testing.assert_allclose(new[:, 0, 0], [1, 5, 1, 5, 1], atol=1e-3)
    np.testing.assert_array_equal(noise, [0.5, 0.7, 0.5, 0.7, 0.5])


def test_rewards_and_regrets_are_those_of_the_tasks():
    theta = np.random.default_rng(1).normal(size=(3000, 2, 4))
    noise = np.where(np.arange(3000) < 1500, 0.5, 2.0)
    worlds = LogWorlds(theta, noise, None, 7)
    events = worlds.events(3)
    choices = np.arange(events.run.size) % 4
    rewards, regret = worlds.play(events, worlds.offer(events), choices)
    value = theta[events.run, events.task, choices]
    np.testing.assert_allclose(regret, theta.max(2).ravel() - value)
    for std, part in ((0.5, slice(0, 3000)), (2.0, slice(3000, 6000))):
        assert abs((rewards - value)[part].std() - std) < 0.1 * std
    again = worlds.play(events, worlds.offer(events), (choices + 1) % 4)[0]
    luck = again - theta[events.run, events.task, (choices + 1) % 4]
    np.testing.assert_allclose(luck, rewards - value)  # whoever plays


def test_arms_that_nobody_played_are_not_offered():
    theta = np.random.default_rng(1).normal(size=(5, 2, 4))
    theta[:, :, 2] = 100.0
    worlds = LogWorlds(theta, np.ones(5), None, 7, np.array([0, 1, 3]))
    events = worlds.events(0)
    arms = worlds.offer(events)
    for place, arm in enumerate((0, 1, 3)):
        _, regret = worlds.play(events, arms, np.full(10, place))
        best = theta[:, :, [0, 1, 3]].max(2)
        np.testing.assert_allclose(regret, (best - theta[:, :, arm]).ravel())


def test_features_are_rows_of_the_sample():
    rng = np.random.default_rng(2)
    theta, table = rng.normal(size=(2, 3, 4)), rng.normal(size=(50, 4))
    offers = LogOffers.of(table, np.arange(50), ("a", "b", "c", "d"))
    worlds = LogWorlds(theta, np.ones(2), offers, 7)
    events = worlds.events(0)
    arms = worlds.offer(events)
    choices = np.array([int(arms.rows_of(e)[0]) for e in range(6)])
    _, regret = worlds.play(events, arms, choices)
    for e in range(6):
        values = table[arms.rows_of(e)] @ theta[e // 3, e % 3]
        assert len(values) == 10
        assert regret[e] == pytest.approx(values.max() - values[0])
