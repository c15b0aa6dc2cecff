"""Bets that aim at a goal by a deadline."""

import numpy as np

from hierbandits.service.aimed_bets import DEADLINES, AimedBets

ODDS = np.array([0.4, 0.35, 0.25])


def bets(policies, arms=3, each=1.0):
    return AimedBets(np.full((arms, 2), each), (policies,))


def play(bets, rng, policies, number, odds=ODDS, lost=0.0, goal=600.0):
    """Exposures of a batch of policies, some of whose first arm's are lost."""
    seen = odds * (1 - lost * (np.arange(odds.size) == 0))
    seen = seen / seen.sum()
    ever = np.zeros(policies, bool)
    for _ in range(number):
        played = (rng.random((policies, 1)) > seen.cumsum()).sum(axis=1)
        bets.grow(np.eye(odds.size)[played], np.tile(odds, (policies, 1)), goal)
        ever |= bets.total >= goal
    return ever


def test_no_bet_gains_on_average():
    rng, policies = np.random.default_rng(0), 20_000
    ours = bets(policies)
    play(ours, rng, policies, 50)
    money = ours._money / 1.0
    error = money.std(axis=0) / np.sqrt(policies)
    assert (np.abs(money.mean(axis=0) - 1.0) < 6 * error).all()
    shares = ours._shares
    assert ((shares > 0) & (shares <= 0.2)).all()


def test_a_goal_is_reached_by_the_deadline_as_often_as_can_be(monkeypatch):
    monkeypatch.setattr("hierbandits.service.aimed_bets.DEADLINES", np.array([500.0, 500.0]))
    rng, policies, even = np.random.default_rng(1), 2000, np.array([0.5, 0.5])
    weights = np.array([[1.0, 0.0], [0.0, 0.0]])
    found = play(AimedBets(weights, (policies,)), rng, policies, 2050, even, 0.0, 20.0)
    assert 0.03 < found.mean() <= 0.05 + 3 * (0.05 * 0.95 / policies) ** 0.5
    # A loss of 13 % moves the mean by 3 standard deviations in 2,000 exposures: no test of 5 %
    # finds more than 91 %.
    found = play(AimedBets(weights, (policies,)), rng, policies, 2050, even, 0.1305, 20.0)
    assert found.mean() > 0.87


def test_nothing_is_bet_after_the_deadline_and_at_certain_odds():
    ours, rng = bets(1, 2), np.random.default_rng(2)
    ours._left[...] = 0.0
    play(ours, rng, 1, 30, np.array([0.5, 0.5]))
    assert (ours._money == 1.0).all()
    sure = bets(1, 2)
    play(sure, rng, 1, 30, np.array([1.0, 0.0]))
    assert (sure._money == 1.0).all()
    assert (sure._left == DEADLINES).all()
