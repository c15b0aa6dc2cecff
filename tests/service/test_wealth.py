"""Bets at fair odds gain nothing on average, whenever they begin."""

import json

import numpy as np
import pytest

from hierbandits.service.wealth import Wealth

WEIGHTS = np.array([0.2, 0.3, 0.5])


def test_an_account_of_one_stays_one_while_no_bet_gains():
    wealth = Wealth(WEIGHTS, 0.5)
    for _ in range(50):
        assert wealth.total == pytest.approx(1.0, abs=1e-12)
        wealth.grow(np.ones(3))
    assert wealth.count == 50


def test_fair_bets_gain_nothing_on_average():
    rng, wealth = np.random.default_rng(0), Wealth(WEIGHTS, 0.5, (20_000,))
    shares = np.array([0.1, 0.4, 0.02])
    for _ in range(30):
        wealth.grow(1 + shares * rng.choice([-1.0, 1.0], (20_000, 1)))
    total = wealth.total
    assert abs(total.mean() - 1) < 6 * total.std() / 20_000**0.5
    assert total.std() > 0.1


def test_what_is_bet_late_finds_what_begins_late():
    early, mixed = Wealth(WEIGHTS, 1.0), Wealth(WEIGHTS, 0.5)
    for factor in [0.9] * 1000 + [1.1] * 200:
        early.grow(np.full(3, factor))
        mixed.grow(np.full(3, factor))
    assert early.total < 1e-30
    assert mixed.total > 1000


def test_new_bets_bring_their_own_money():
    wealth = Wealth(np.full((2, 1), 0.25), 0.5)
    wealth.add_bets(np.full((1, 1), 0.5))
    assert wealth.total == pytest.approx(1.0)
    wealth.grow(np.array([[1.0], [1.0], [3.0]]))
    assert wealth.total == pytest.approx(2.0)


def test_it_goes_on_after_a_file_bit_for_bit():
    rng, one, two = np.random.default_rng(1), Wealth(WEIGHTS, 0.5), Wealth(WEIGHTS, 0.5)
    for _ in range(20):
        one.grow(rng.uniform(0.5, 1.5, 3))
    two.restore(json.loads(json.dumps(one.to_dict())))
    last = rng.uniform(0.5, 1.5, 3)
    one.grow(last)
    two.grow(last)
    assert one.total == two.total
