"""Digits as a bandit: its arms, rewards and regret."""

import numpy as np
import pytest
from support.digit_images import bundled, bundled_bandit

from hierbandits import POLICIES, simulate
from hierbandits.environments import DigitBandit
from hierbandits.environments.digit_bandit import class_rewards, subsample_size
from hierbandits.environments.digit_estimators import (
    choice_weighted,
    estimate_population,
    positive_mean,
)
from hierbandits.environments.digit_reading import DigitReading
from hierbandits.environments.events import Events
from hierbandits.simulation.schedules import Concurrent


@pytest.fixture(scope="module")
def bandit():
    return bundled_bandit()


def test_the_problem_is_the_papers(bandit):
    train, test = bundled().halves()
    assert (bandit.num_tasks, bandit.num_arms, bandit.subsample) == (10, 30, 224)
    np.testing.assert_array_equal(bandit.prior.hyper_mean, np.zeros(64))
    np.testing.assert_array_equal(bandit.prior.hyper_cov, np.eye(64))
    assert bandit.prior.noise_std == 0.5
    rewards = np.where(train.labels == 3, 0.9, 0.1)
    mean, cov = estimate_population(train.features, rewards, 224, choice_weighted)
    np.testing.assert_array_equal(bandit.hyper, mean)
    np.testing.assert_allclose(bandit.prior.task_cov, cov, atol=1e-15)
    np.testing.assert_array_equal(bandit.features, test.features)
    np.testing.assert_array_equal(bandit.mean_rewards, np.where(test.labels == 3, 0.9, 0.1))
    assert subsample_size(30_000) == 500


def test_a_reading_changes_the_estimates_or_the_arms_alone(bandit):
    train, test = bundled().halves()
    literal = DigitBandit.of(
        train, test, 3, DigitReading(estimator="positive-mean", arms_from="test-half")
    )
    rewards = np.where(train.labels == 3, 0.9, 0.1)
    mean, cov = estimate_population(train.features, rewards, 224, positive_mean)
    np.testing.assert_array_equal(literal.hyper, mean)
    np.testing.assert_allclose(literal.prior.task_cov, cov, atol=1e-15)
    assert literal.subsample == len(test.labels) == 899
    all_arms = DigitBandit.of(train, test, 3, DigitReading(arms_from="test-half"))
    np.testing.assert_array_equal(all_arms.hyper, bandit.hyper)
    assert all_arms.subsample == 899
    own_arms = DigitBandit.of(train, test, 3, DigitReading(estimator="positive-mean"))
    assert own_arms.subsample == 224


def test_arms_of_the_whole_half_are_drawn_uniformly_from_it(bandit):
    whole = DigitBandit(
        prior=bandit.prior,
        hyper=bandit.hyper,
        features=bandit.features,
        mean_rewards=bandit.mean_rewards,
        subsample=len(bandit.features),
    )
    worlds = whole.worlds(np.random.default_rng(0), 7, 4, 2)
    n = 40_000
    events = Events(np.full(n, 5), np.full(n, 2), np.arange(n))
    offered = worlds.offer(events).flat_rows()
    counts = np.bincount(offered, minlength=899)
    expected = 30 * n / 899
    assert np.abs(counts - expected).max() < 6 * np.sqrt(expected)
    other_task = Events(events.run, np.full(n, 3), events.interaction)
    assert (worlds.offer(other_task).flat_rows() != offered).mean() > 0.9


def _events(rng, size=60, first=100):
    return Events(
        first + rng.integers(0, 3, size), rng.integers(0, 10, size), rng.integers(0, 9, size)
    )


def test_regret_is_that_of_the_labels(bandit):
    """Arms are pictures of the task's sub-sample; regret recomputed picture by picture."""
    labels = bundled().halves()[1].labels
    worlds = bandit.worlds(np.random.default_rng(0), 7, 100, 3)
    rng = np.random.default_rng(1)
    events = _events(rng, size=400)
    arms = worlds.offer(events)
    assert np.shares_memory(arms.table, worlds.offer(events).table)  # the pictures are not copied
    places = rng.integers(0, 30, 400)
    choices = arms.numbers(places)
    rewards, regret = worlds.play(events, arms, choices)
    without = 0
    for e in range(400):
        offered = arms.rows_of(e)
        assert offered.size == 30
        assert set(offered) <= set(worlds.pools[events.run[e] - 100, events.task[e]])
        assert choices[e] == offered[places[e]]
        there, chosen = (labels[offered] == 3).any(), labels[choices[e]] == 3
        without += not there
        assert regret[e] == pytest.approx(0.8 if there and not chosen else 0.0)
        assert rewards[e] in (0.0, 1.0)
    assert 0 < without < 60
    np.testing.assert_array_equal(arms.features(choices), bandit.features[choices])


def test_luck_and_pictures_belong_to_the_event(bandit):
    worlds = bandit.worlds(np.random.default_rng(0), 7, 100, 3)
    events = _events(np.random.default_rng(1))
    order = np.random.default_rng(2).permutation(60)
    shuffled = Events(events.run[order], events.task[order], events.interaction[order])
    arms, again = worlds.offer(events), worlds.offer(shuffled)
    offered = arms.flat_rows().reshape(60, 30)
    np.testing.assert_array_equal(again.flat_rows().reshape(60, 30), offered[order])
    rewards = worlds.play(events, arms, offered[:, 0])[0]
    np.testing.assert_array_equal(
        worlds.play(shuffled, again, offered[order, 0])[0], rewards[order]
    )
    other = bandit.worlds(np.random.default_rng(0), 8, 100, 3)
    assert (other.offer(events).flat_rows() != arms.flat_rows()).mean() > 0.9


def test_rewards_and_pictures_have_their_frequencies(bandit):
    worlds = bandit.worlds(np.random.default_rng(0), 7, 0, 1)
    n = 20_000
    events = Events(np.zeros(n, int), np.full(n, 2), np.arange(n))
    arms = worlds.offer(events)
    pool = worlds.pools[0, 2]
    assert len(set(pool)) == pool.size == 224
    counts = np.bincount(arms.flat_rows(), minlength=len(bandit.features))
    assert counts.sum() == counts[pool].sum() == 30 * n
    expected = 30 * n / 224
    assert np.abs(counts[pool] - expected).max() < 6 * np.sqrt(expected)
    for positive, mean in ((True, 0.9), (False, 0.1)):
        picture = pool[(bandit.mean_rewards[pool] == 0.9) == positive][0]
        rewards = worlds.play(events, arms, np.full(n, picture))[0]
        assert abs(rewards.mean() - mean) < 6 * 0.3 / np.sqrt(n)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_plays(bandit, policy):
    """Three interactions of ten tasks: each of them has regret 0 or 0.8."""
    study = simulate(bandit, [policy], Concurrent(5), runs=2, num_interactions=3)
    assert study.rounds[-1] == 6
    outcome = study.outcomes[policy]
    misses = outcome.per_task / 0.8
    np.testing.assert_allclose(misses, np.round(misses), atol=1e-9)
    assert set(np.round(misses).ravel()) <= {0, 1, 2, 3}
    np.testing.assert_allclose(outcome.curve[:, -1], outcome.per_task.sum(axis=1))


def test_what_is_known_of_other_tasks_is_worth_much(bandit):
    """Regret over that of uniform choices: 0.05 if mu is known, 0.6 if learned, 0.95 alone."""
    runs, tasks, n = 4, 10, 30
    names = ("OracleTS", "HierTS", "TS")
    study = simulate(bandit, names, Concurrent(5), runs=runs, num_interactions=n)
    run, task, interaction = (part.ravel() for part in np.indices((runs, tasks, n)))
    worlds = bandit.worlds(np.random.default_rng([0, 0, 0]), 0, 0, runs)
    offered = worlds.offer(Events(run, task, interaction)).flat_rows().reshape(-1, 30)
    values = bandit.mean_rewards[offered]
    uniform = (values.max(axis=1) - values.mean(axis=1)).sum() / runs
    oracle, hierarchical, alone = (study.mean(name)[0] / uniform for name in names)
    assert oracle < 0.1
    assert 0.4 < hierarchical < 0.8
    assert 0.85 < alone < 1.05


def test_numbers_do_not_depend_on_jobs(bandit):
    """Also where the features are large, which other processes share as read-only memory."""
    large = DigitBandit(
        prior=bandit.prior,
        hyper=bandit.hyper,
        features=np.tile(bandit.features, (4, 1)),
        mean_rewards=np.tile(bandit.mean_rewards, 4),
        subsample=500,
    )
    assert large.features.nbytes > 2**20
    names = ["HierTS", "TS"]
    one, two = (
        simulate(large, names, Concurrent(5), runs=3, num_interactions=20, jobs=jobs)
        for jobs in (1, 2)
    )
    for name in names:
        np.testing.assert_array_equal(one.outcomes[name].curve, two.outcomes[name].curve)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_tasks": 0}, "num_tasks must be a whole number of at least 1"),
        ({"num_arms": 0}, "num_arms must be a whole number of at least 1"),
        ({"subsample": 900}, "subsample must be at most 899 pictures, got 900"),
        ({"hyper": np.zeros(3)}, "hyper must have shape"),
        ({"mean_rewards": np.zeros(3)}, "mean_rewards must have shape"),
        ({"features": np.zeros((899, 3))}, "features must have shape"),
    ],
)
def test_bad_worlds_are_named(bandit, changes, message):
    names = ("prior", "hyper", "features", "mean_rewards", "subsample")
    with pytest.raises(ValueError, match=message):
        DigitBandit(**({name: getattr(bandit, name) for name in names} | changes))
    with pytest.raises(ValueError, match=r"digit must be among \[0, 1\], got 7"):
        class_rewards(np.array([0, 1]), 7)
