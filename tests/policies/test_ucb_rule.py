"""Upper confidence bounds: the arm of highest bound is played."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.rules import RAGGED, TASKS, arms_for, rewarded_belief

from hierbandits import Agent, Belief, GaussianHierarchy
from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.keyed_random import Stream
from hierbandits.policies import BeliefView, Ucb, greedy, ucb_width
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.odds import without_support


@pytest.mark.parametrize("armed", [False, True, "correlated"])
def test_greedy_and_ucb_take_the_best_of_mean_and_bound(armed):
    belief = rewarded_belief(armed)
    sets = [[0, 1], [0, 1, 2], [2, 1]] if armed else RAGGED
    view, arms = BeliefView(belief), arms_for(belief, sets, TASKS)
    width = ucb_width(0.1)
    assert width == pytest.approx(2.145966, abs=1e-6)
    rng = np.random.default_rng(0)
    for e, task in enumerate(TASKS):
        posterior = belief.task(task)
        x = np.eye(3)[sets[e]] if armed else sets[e]
        bound = x @ posterior.mean + width * np.sqrt(np.einsum("ki,ij,kj->k", x, posterior.cov, x))
        assert greedy(view, rng, TASKS, arms)[e] == np.argmax(x @ posterior.mean)
        assert Ucb(width)(view, rng, TASKS, arms)[e] == np.argmax(bound)


def test_delta_must_be_a_probability():
    for delta in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="delta must be in"):
            ucb_width(delta)


def test_a_width_and_a_jitter_must_be_numbers():
    for wrong in (np.nan, np.inf, "wide", [1.0, 2.0]):
        with pytest.raises(ValueError, match="width must"):
            Ucb(wrong)
        with pytest.raises(ValueError, match="jitter must be a finite number"):
            Ucb(1.0, wrong)
        with pytest.raises(ValueError, match="growth must be a finite number"):
            Ucb(1.0, growth=wrong)
    for name, widths in (("jitter", (1.0, -2)), ("growth", (1.0, 0, -2)), ("width", (-2, 0, 1))):
        with pytest.raises(ValueError, match=f"{name} must be at least 0, got -2"):
            Ucb(*widths)


def _bounds(belief, task, x, width):
    posterior = belief.task(task)
    std = np.sqrt(np.einsum("ki,ij,kj->k", x, posterior.cov, x))
    return x @ posterior.mean + np.multiply.outer(width, std)


@pytest.mark.parametrize("armed", [False, True])
def test_arms_with_widths_of_their_own_win_as_often_as_the_odds_say(armed):
    """In rounds, in single decisions and frozen, and as plain numpy draws the widths."""
    belief, rule, n = rewarded_belief(armed), Ucb(1.0, 0.8, 0.3), 4000
    table = np.arange(3) if armed else np.random.default_rng(9).standard_normal((3, 3))
    x = np.eye(3) if armed else table
    view, rng, tasks = BeliefView(belief), np.random.default_rng(3), np.full(n, 1)
    arms = arms_for(belief, table, tasks)
    odds = rule.odds(view, rng, tasks, arms, draws=1)
    exact = np.array([odds.of(np.full(n, arm))[0] for arm in range(3)])
    assert exact.sum() == pytest.approx(1)
    assert (exact > 0.02).sum() >= 2
    error = 6 * np.sqrt(exact * (1 - exact) / n) + 1e-12
    mean = _bounds(belief, 1, x, 0.0)
    std = _bounds(belief, 1, x, 1.0) - mean
    widths = np.sqrt(1 + 0.6 * np.log(std / std.min())) + rng.uniform(-0.8, 0.8, (n, 3))
    bounds = mean + widths * std
    stock, choose = NormalStock(rng), rule._raw_one(view)
    singles = np.array([choose(stock, 1, table) for _ in range(n)])
    for played in (odds.choices, rule(view, rng, tasks, arms), singles, bounds.argmax(axis=1)):
        assert (abs(np.bincount(played, minlength=3) / n - exact) <= error).all()
    posteriors = ArmPosteriors.of(belief, None if armed else table, np.arange(3))
    frozen = rule.frozen(posteriors, 1, Stream(0, "test"))
    assert_allclose(frozen(np.array([1]), np.ones((1, 3), bool))[0], exact, atol=1e-12)
    some = np.array([[True, False, True]])
    pair = frozen(np.array([1]), some)[0]
    assert pair[1] == 0
    assert pair.sum() == pytest.approx(1)


def test_arms_whose_bounds_cannot_be_highest_are_named():
    prior = GaussianHierarchy.armed(
        4, hyper_mean=[0.0, 1.0, 0.9, -1.0], hyper_std=0.1, task_std=0.1, noise_std=1.0
    )
    belief, tasks = Belief(prior, 2), np.arange(2)
    arms = arms_for(belief, None, tasks).only([[True] * 4, [True, False, True, True]])
    rng, view = np.random.default_rng(0), BeliefView(belief)
    odds = Ucb(1.0, 0.5).odds(view, rng, tasks, arms, draws=1)
    assert [never.tolist() for never in without_support(odds, arms)] == [[0, 3], [0, 3]]
    sure = Ucb(1.0).odds(view, rng, tasks, arms, draws=1)
    assert [never.tolist() for never in without_support(sure, arms)] == [[0, 2, 3], [0, 3]]


def test_tasks_that_are_alike_play_apart():
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.1, noise_std=1.0)
    belief, tasks = Belief(prior, 60), np.arange(60)
    belief.observe([0, 0], [0, 1], [0.1, 0.11])
    arms, rng, view = arms_for(belief, None, tasks), np.random.default_rng(1), BeliefView(belief)
    assert 10 < Ucb(1.5, 0.3)(view, rng, tasks, arms).sum() < 50
    assert Ucb(1.5)(view, rng, tasks[1:], arms_for(belief, None, tasks[1:])).all()


def test_single_decisions_refuse_features_that_rounds_refuse():
    prior = GaussianHierarchy.linear(2, hyper_std=1.0, task_std=1.0, noise_std=1.0)
    agent = Agent(prior, "HierRandUCB", seed=0)
    agent.decide("t", [[1.0, 0.0], [0.0, 1.0]])
    for wrong in (np.nan, np.inf, 1e61):
        with pytest.raises(ValueError, match="arms must"):
            agent.decide("t", [[1.0, 0.0], [0.0, wrong]])
    assert len(agent.pending) == 1
