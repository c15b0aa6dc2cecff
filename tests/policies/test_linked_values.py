"""Rules that weigh means and differences use mean rewards, not linear predictors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.policies import both, small_prior

import hierbandits as hb
from hierbandits.models import GaussianRewards
from hierbandits.policies import BeliefView, Ids
from hierbandits.policies.greedy_rule import greedy
from hierbandits.policies.linked_values import mean_rewards

TABLE = np.random.default_rng(3).standard_normal((6, 3))


def _policies(name, armed):
    """The same policy over a plain belief, and over one that is told the family is Gaussian."""
    prior = small_prior(armed)
    told = hb.GeneralizedHierarchy(prior, GaussianRewards(prior.noise_std))
    return [hb.POLICIES[name](model, 4) for model in (prior, told)]


@both
@pytest.mark.parametrize("name", ["HierGreedy", "HierIDS"])
def test_where_the_link_is_the_identity_rules_choose_as_ever(name, armed):
    rng = np.random.default_rng(5)
    policies = _policies(name, armed)
    tasks = rng.integers(0, 4, 20)
    features = rng.integers(0, 3, 20) if armed else rng.standard_normal((20, 3))
    arms = None if armed else TABLE
    eligible = rng.random((12, 3 if armed else 6)) < 0.6
    eligible[:, 1] = True
    rewards = rng.standard_normal(20)
    for policy in policies:
        policy.learn(tasks, features, rewards)
    nodes = rng.integers(0, 4, 12)
    for mask in (None, eligible):
        offered = hb.Arms.of(arms, 12, 3, armed=bool(armed), eligible=mask)
        odds = [
            policy.rule.odds(
                BeliefView(policy.belief), np.random.default_rng(1), nodes, offered, draws=100
            )
            for policy in policies
        ]
        for arm in range(3 if armed else 6):  # of two arms, either may be the first
            chances = [each.of(np.full(12, arm)) for each in odds]
            assert_allclose(chances[0], chances[1], atol=1e-6)


def test_greedy_weighs_rewards_and_not_log_odds():
    """Of two arms with the same log odds the better-known one has the more extreme probability."""
    prior = hb.GaussianHierarchy.armed(
        2, hyper_mean=[-2.0, -2.1], hyper_std=[0.1, 2.0], task_std=0.1, noise_std=1.0
    )
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, "bernoulli"), 1)
    view, arms = BeliefView(belief), hb.Arms.of(None, 1, 2, armed=True)
    first, second = mean_rewards(view, np.array([0]), arms)
    assert second > 1.2 * first  # although its log odds are lower
    rng = np.random.default_rng(0)
    assert greedy(view, rng, np.array([0]), arms) == [1]
    assert greedy.odds(view, rng, np.array([0]), arms, draws=1).of(np.array([1])) == [1.0]


def test_ids_weighs_rewards_and_not_log_rates():
    """An arm whose rate is e^-9 or e^-5 is never worth the play, however unknown its log is."""
    prior = hb.GaussianHierarchy.armed(
        2, hyper_mean=[0.0, -7.0], hyper_std=[0.2, 1.0], task_std=0.1, noise_std=1.0
    )
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, "poisson"), 3)
    arms = hb.Arms.of(None, 3, 2, armed=True)
    odds = Ids().odds(BeliefView(belief), np.random.default_rng(0), np.arange(3), arms, draws=1)
    assert_allclose(odds.of(np.zeros(3, np.intp)), 1.0)
