"""Predictions of rewards of a family, beside sums and draws."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, kstest, poisson

from hierbandits.learning.family_predictor import FamilyPredictor, ranked
from hierbandits.learning.predictor import Predictor
from hierbandits.models import FAMILIES

MEAN, VAR = np.array([[-1.0, 0.5], [0.3, -2.0]]), np.array([[0.4, 1.2], [0.1, 0.7]])


def _predictor(family):
    return FamilyPredictor(FAMILIES[family](), Predictor(MEAN, VAR, np.array([0, 1]), 0.0))


def _average(values):
    """Over linear predictors of task 0 and arm 1."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return values(MEAN[0, 1] + np.sqrt(VAR[0, 1]) * nodes) @ weights / np.sqrt(2 * np.pi)


@pytest.mark.parametrize(
    ("family", "density", "reward"),
    [
        ("bernoulli", lambda eta: binom.pmf(1, 1, expit(eta)), 1.0),
        ("poisson", lambda eta: poisson.pmf(3, np.exp(eta)), 3.0),
    ],
)
def test_log_scores_and_means_are_integrals(family, density, reward):
    predictor, task, arm = _predictor(family), np.array([0]), np.array([1])
    score = predictor.log_score(task, arm, np.array([reward]))
    assert score[0] == pytest.approx(np.log(_average(density)), abs=1e-5)
    mean = predictor.mean_reward(task, arm)[0]
    assert mean == pytest.approx(_average(FAMILIES[family]().mean), rel=1e-6)


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_ranks_are_uniform_if_predictions_are_right(family):
    rng, predictor, number = np.random.default_rng(1), _predictor(family), 3000
    tasks, arms = rng.integers(0, 2, (2, number))
    eta = MEAN[tasks, arms] + np.sqrt(VAR[tasks, arms]) * rng.standard_normal(number)
    ones, counts = np.ones(number), np.full(number, 12.0)
    rewards = FAMILIES[family]().draw(eta, ones, rng.random(number))
    totals = FAMILIES[family]().draw_totals(eta, counts, rng.random(number))
    assert kstest(predictor.ranks(rng, tasks, arms, rewards), "uniform").pvalue > 1e-3
    rank = predictor.total_ranks(rng, tasks, arms, totals, counts)
    assert kstest(rank, "uniform").pvalue > 1e-3
    rank = predictor.total_ranks(rng, tasks, arms, np.minimum(totals + 2, 12), counts)
    assert kstest(rank, "uniform").pvalue < 1e-6


def test_the_sum_of_a_tasks_rewards_has_a_uniform_rank():
    rng, predictor, features = np.random.default_rng(2), _predictor("poisson"), np.array([0, 1, 1])
    ranks = []
    for _ in range(400):
        theta = MEAN[0] + np.sqrt(VAR[0]) * rng.standard_normal(2)
        total = rng.poisson(np.exp(theta[features])).sum()
        ranks.append(predictor.sum_rank(rng, 0, features, float(total)))
    assert kstest(ranks, "uniform").pvalue > 1e-3


def test_ties_are_broken_evenly():
    rng = np.random.default_rng(3)
    rank = ranked(rng, np.zeros((39, 2000)), np.zeros(2000))
    assert kstest(rank, "uniform").pvalue > 1e-3
