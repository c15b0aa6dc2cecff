"""Thompson sampling plays the best arms of a draw, with the propensities that it states."""

import numpy as np
import pytest
from scipy import stats
from support.rules import RAGGED, TASKS, arms_for, rewarded_belief

from hierbandits import Arms, Belief, GaussianHierarchy
from hierbandits.keyed_random import Stream
from hierbandits.policies import BeliefView, Policy, Thompson, thompson
from hierbandits.policies.arm_posteriors import ArmPosteriors


@pytest.mark.parametrize("fresh", [False, True])
def test_thompson_plays_the_best_arm_of_the_draw(fresh):
    belief = rewarded_belief(False)
    view, arms = BeliefView(belief), arms_for(belief, RAGGED, TASKS)
    for seed in range(30):
        theta = belief.sample(np.random.default_rng(seed), TASKS, fresh=fresh)
        choices = Thompson(fresh)(view, np.random.default_rng(seed), TASKS, arms)
        assert choices.tolist() == [np.argmax(x @ t) for x, t in zip(RAGGED, theta, strict=True)]


@pytest.mark.parametrize("armed", [False, True, "correlated"])
def test_thompson_probabilities_match_the_gaussian(armed):
    """With two arms the probability of the first is a normal tail, known exactly."""
    belief = rewarded_belief(armed)
    sets = [0, 2] if armed else RAGGED[0]
    n, rng = 20_000, np.random.default_rng(1)
    view, arms = BeliefView(belief), arms_for(belief, sets, [1])
    tasks = np.array([1])
    share = np.mean([thompson(view, rng, tasks, arms)[0] == 0 for _ in range(n)])
    x = np.eye(3)[sets] if armed else sets
    gap, posterior = x[0] - x[1], belief.task(1)
    exact = stats.norm.cdf(gap @ posterior.mean / np.sqrt(gap @ posterior.cov @ gap))
    assert 0.05 < exact < 0.95
    assert abs(share - exact) < 6 * np.sqrt(exact * (1 - exact) / n)


@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_propensities_are_calibrated(floor):
    """Arms are played as often as plain Thompson sampling plays them, and weigh right.

    For a fixed policy, E[1{arm = a} / propensity] = 1 for each arm that has one: the identity
    behind inverse propensity weighting.
    """
    belief = rewarded_belief(False)
    sets, policy = RAGGED[1], Policy(belief, thompson)
    n, rng = 20_000, np.random.default_rng(3)
    tasks = np.zeros(n, np.intp)
    arms = Arms.of(sets, 1, 3, armed=False)
    chosen, weights = np.empty(n, int), np.empty(n)
    for i in range(n):
        choice, propensity = policy._raw_choose_with_propensities(
            rng, tasks[:1], arms, draws=50, floor=floor
        )
        chosen[i], weights[i] = choice[0], 1 / propensity[0]
    # the arms' probabilities, by a large sample of independent draws
    draws, slots = belief._raw_draws(rng, tasks[:1], repeats=200_000)
    exact = np.bincount(np.argmax(draws[slots] @ sets.T, axis=1), minlength=5) / 200_000
    exact = (1 - floor) * exact + floor / 5
    counts = np.bincount(chosen, minlength=5)
    for arm in range(5):
        se = np.sqrt(exact[arm] * (1 - exact[arm]) * (1 / n + 1 / 200_000))
        assert abs(counts[arm] / n - exact[arm]) <= 6 * se + 1e-12
        if exact[arm] > 0.05:
            ones = np.where(chosen == arm, weights, 0.0)
            missed = (1 - exact[arm]) ** 50 if floor == 0 else 0.0  # no draw chose the arm
            assert abs(ones.mean() - (1 - missed)) < 6 * ones.std() / np.sqrt(n)
    assert weights.max() <= (50 if floor == 0 else 5 / floor) + 1e-9


def test_propensities_of_a_round_share_one_draw():
    """The played draw is one for the round: tasks that are nearly one choose alike."""
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=1e-6, noise_std=1.0)
    belief = Belief(prior, 50)
    tasks = np.arange(50)
    arms = Arms.of(None, 50, 2, armed=True)
    choices, propensities = Policy(belief, thompson)._raw_choose_with_propensities(
        np.random.default_rng(4), tasks, arms, draws=11
    )
    assert len(set(choices)) == 1
    assert len(set(propensities.round(9))) == 1
    assert (propensities * 11 == np.round(propensities * 11)).all()


def test_with_fresh_draws_tasks_choose_apart():
    """Each task draws a mu of its own, with propensities too, so alike tasks choose differently."""
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=1e-6, noise_std=1.0)
    policy, rng = Policy(Belief(prior, 50), Thompson(fresh=True)), np.random.default_rng(5)
    arms = Arms.of(None, 50, 2, armed=True)
    choices, propensities = policy._raw_choose_with_propensities(rng, np.arange(50), arms, draws=11)
    for played in (choices, policy._raw_choose(rng, np.arange(50), arms)):
        assert 10 < played.sum() < 40
    assert len(set(propensities.round(9))) > 3


@pytest.mark.parametrize("armed", [False, True])
def test_a_scale_narrows_the_draws(armed):
    """In rounds, with propensities, in single decisions and frozen: a narrower normal's tail."""
    belief, rule, n = rewarded_belief(armed), Thompson(scale=0.7), 20_000
    sets = [0, 2] if armed else RAGGED[0]
    view, rng, tasks = BeliefView(belief), np.random.default_rng(1), np.full(n, 1)
    arms = arms_for(belief, sets, [1])
    x = np.eye(3)[sets] if armed else sets
    gap, posterior = x[0] - x[1], belief.task(1)
    exact = stats.norm.cdf(gap @ posterior.mean / (0.7 * np.sqrt(gap @ posterior.cov @ gap)))
    assert 0.01 < exact < 0.99
    odds = rule.odds(view, rng, tasks[:1], arms, draws=n)
    first = np.array([arms.numbers(np.zeros(1, np.intp))[0]])
    every = np.array([rule(view, rng, tasks[:1], arms)[0] == first[0] for _ in range(2000)])
    for share, size in ((odds.of(first)[0], n), (every.mean(), 2000)):
        assert abs(share - exact) < 6 * np.sqrt(exact * (1 - exact) / size)
    assert rule._raw_one(view) is None
    posteriors = ArmPosteriors.of(belief, None if armed else sets, np.arange(3))
    frozen = rule.frozen(posteriors, n, Stream(0, "test"))
    eligible = np.array([[True, False, True]] if armed else [[True, True]])
    share = frozen(np.array([1]), eligible)[0, 0]
    assert abs(share - exact) < 6 * np.sqrt(exact * (1 - exact) / n)


def test_a_scale_must_be_positive():
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="scale must be"):
            Thompson(scale=wrong)
