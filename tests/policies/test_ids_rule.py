"""Information-directed sampling: at most two arms, by shares that are exact given the draws."""

import numpy as np
import pytest
from support.information import mixture_of
from support.rules import RAGGED, TASKS, arms_for, rewarded_belief

from hierbandits import Belief, GaussianHierarchy
from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.keyed_random import Stream
from hierbandits.policies import BeliefView, Ids
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.odds import without_support


@pytest.mark.parametrize("armed", [False, True])
def test_each_task_plays_the_mixture_of_its_own_draws(armed):
    belief = rewarded_belief(armed)
    sets = [[0, 1], [0, 1, 2], [2, 1]] if armed else RAGGED
    view, arms = BeliefView(belief), arms_for(belief, sets, TASKS)
    theta, slots = belief._raw_draws(np.random.default_rng(4), TASKS, repeats=8, fresh=True)
    drawn = theta[slots].reshape(8, len(TASKS), 3)
    means = np.array([belief.task(task).mean for task in TASKS])
    drawn = np.concatenate([drawn, 2 * means - drawn])  # on both sides of the means
    odds = Ids(8).odds(view, np.random.default_rng(4), TASKS, arms, draws=3)
    for e in range(len(TASKS)):
        x = np.eye(3)[sets[e]] if armed else sets[e]
        shares = mixture_of(drawn[:, e] @ x.T)
        for place in range(len(x)):
            numbers = np.minimum(place, arms.sizes - 1)
            assert odds.of(arms.numbers(numbers))[e] == pytest.approx(shares[place], abs=1e-12)
        never = np.flatnonzero(shares == 0)
        assert (
            without_support(odds, arms)[e].tolist()
            == (arms.rows_of(e) - arms.base[e])[never].tolist()
        )


def test_choices_are_as_frequent_as_the_odds_say():
    belief = rewarded_belief(False)
    view, rng = BeliefView(belief), np.random.default_rng(6)
    arms, n, rule = arms_for(belief, RAGGED[1], [1]), 6000, Ids(8)
    played, expected = np.zeros(5), np.zeros(5)
    for _ in range(n):
        odds = rule.odds(view, rng, np.array([1]), arms, draws=1)
        played[odds.choices[0]] += 1
        expected += [odds.of(np.array([arm]))[0] for arm in range(5)]
    assert expected.sum() == pytest.approx(n)
    assert (abs(played - expected) <= 6 * np.sqrt(n / 4)).all()
    assert (expected > 0).sum() >= 3  # other draws, other pairs


@pytest.mark.parametrize("armed", [False, True])
def test_single_decisions_are_as_frequent_as_those_of_rounds(armed):
    belief = rewarded_belief(armed)
    view, rng, rule, n = BeliefView(belief), np.random.default_rng(7), Ids(8), 6000
    table = np.array([0, 2, 1]) if armed else RAGGED[1]
    arms = arms_for(belief, table, [1])
    choose, stock, node = rule._raw_one(view), NormalStock(rng), np.array([1])
    alone = np.bincount([choose(stock, 1, table) for _ in range(n)], minlength=len(table))
    rounds = [rule(view, rng, node, arms)[0] for _ in range(n)]
    together = np.bincount(rounds, minlength=len(table))
    assert (abs(alone - together) <= 6 * np.sqrt(alone + together)).all()
    assert (alone > 0).sum() >= 2


def test_a_single_decision_refuses_features_that_are_too_large():
    choose = Ids()._raw_one(BeliefView(rewarded_belief(False)))
    stock = NormalStock(np.random.default_rng(0))
    for value in (np.nan, np.inf, 1e200):
        with pytest.raises(ValueError, match="arms must"):
            choose(stock, 0, np.array([[1.0, 0.0, 0.0], [0.0, value, 0.0]]))


def test_an_arm_that_is_surely_best_is_played():
    prior = GaussianHierarchy.armed(
        3, hyper_mean=[0.0, 100.0, 0.0], hyper_std=1.0, task_std=1.0, noise_std=1.0
    )
    belief = Belief(prior, 4)
    view, arms = BeliefView(belief), arms_for(belief, None, range(4))
    assert (Ids()(view, np.random.default_rng(0), np.arange(4), arms) == 1).all()


def test_frozen_mixtures_are_those_of_fixed_draws():
    belief = rewarded_belief(True)
    posteriors = ArmPosteriors.of(belief, None, np.arange(3))
    frozen = Ids(8).frozen(posteriors, 99, Stream(0, "test"))
    eligible = np.ones((3, 3), bool)
    eligible[1, 2] = False
    shares = frozen(np.array([0, 1, 2]), eligible)
    keys = (np.arange(8), np.full(8, 1), np.zeros(8, np.intp))
    normals = Stream(0, "test").normals(keys, 3)[None]
    values = posteriors.drawn(np.array([1]), np.concatenate([normals, -normals], axis=1))
    assert shares[1].tolist() == mixture_of(values[0], eligible[1]).tolist()
    assert shares.sum(axis=1) == pytest.approx(np.ones(3))
    assert (frozen(np.array([2, 0]), eligible[[2, 0]]) == shares[[2, 0]]).all()


def test_a_number_of_pairs_must_be_positive():
    for pairs in (0, -1, 1.5):
        with pytest.raises(ValueError, match="pairs must be"):
            Ids(pairs)
