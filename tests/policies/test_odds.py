"""The odds of choices: shares of draws, and shares of the best."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rules import rewarded_belief

from hierbandits import Arms, GaussianHierarchy, Recipe
from hierbandits.models.variants import as_given
from hierbandits.policies import BeliefView, Greedy, Ids, Thompson, Ucb
from hierbandits.policies.odds import BestOdds, DrawnOdds


@given(st.integers(0, 2**32 - 1))
def test_the_best_share_and_others_have_none(seed):
    rng = np.random.default_rng(seed)
    events = int(rng.integers(0, 5))
    sizes = rng.integers(1, 5, events)
    table = np.arange(7.0)[:, None]
    rows = np.concatenate([np.empty(0, int), *(rng.permutation(7)[:k] for k in sizes)])
    arms = Arms._raw_of_rows(table, rows.astype(np.intp), sizes)
    scores = rng.integers(-1, 2, rows.size).astype(float)  # ties are common
    odds = BestOdds.of_scores(scores, arms, rng)
    for _ in range(4):
        places = (rng.random(events) * sizes).astype(np.intp)
        got = odds.of(arms.numbers(places))
        for e in range(events):
            own = scores[arms.offset[e] : arms.offset[e + 1]]
            best = own == own.max()
            assert got[e] == (best[places[e]] / best.sum())
    assert (odds.of(odds.choices) > 0).all()


def test_the_odds_of_a_draw_are_its_share():
    rounds = np.array([[0, 2], [1, 2], [0, 1], [0, 2]])
    picked = {
        tuple(DrawnOdds.of_rounds(rounds, np.random.default_rng(s)).choices) for s in range(40)
    }
    assert picked == {(0, 2), (1, 2), (0, 1)}
    odds = DrawnOdds.of_rounds(rounds, np.random.default_rng(0))
    assert odds.of(np.array([0, 2])).tolist() == [0.75, 0.75]
    assert odds.of(np.array([2, 1])).tolist() == [0.0, 0.25]


@pytest.mark.parametrize("rule", [Thompson(), Greedy(), Ucb(1.0), Ucb(1.0, 0.5), Ids(4)])
def test_odds_are_asked_of_one_arm_for_each_event(rule):
    view, nodes = BeliefView(rewarded_belief(False)), np.array([0, 2])
    arms = Arms.of(np.eye(3), 2, 3, armed=False)
    odds = rule.odds(view, np.random.default_rng(0), nodes, arms, draws=8)
    assert odds.of([99, -1]).tolist() == [0.0, 0.0]  # no arms of these events
    for wrong in ([0], [0, 1, 2], [0.0, 1.0], [[0, 1]]):
        with pytest.raises(ValueError, match=r"played must be integers of shape \(2,\)"):
            odds.of(wrong)


@pytest.mark.parametrize("rule", [Thompson(), Ids(), Ucb(1.0), Ucb(1.0, jitter=0.3), Greedy()])
def test_propensities_of_all_arms(rule):
    prior = GaussianHierarchy.armed(4, hyper_std=1.0, task_std=0.5, noise_std=1.0)
    policy = Recipe(as_given, rule, "any")(prior, num_tasks=6)
    eligible = np.array([[0, 0, 1, 0], [1, 1, 0, 1], [0, 1, 1, 0]], bool)
    _, arms = policy._checked_round(np.random.default_rng(0), [0, 1, 2], None, eligible)
    of_all = []
    choices, shares = policy._raw_choose_with_propensities(
        np.random.default_rng(1), np.arange(3), arms, draws=20, floor=0.1, of_all=of_all
    )
    sizes = [len(one) for one in of_all]
    assert sizes == ([0, 3, 0] if rule == Thompson() else [1, 3, 2])
    places = [{2: 0}, {0: 0, 1: 1, 3: 2}, {1: 0, 2: 1}]
    for one, place, choice, share in zip(of_all, places, choices, shares, strict=True):
        if one:
            assert sum(one) == pytest.approx(1.0)
            assert one[place[int(choice)]] == pytest.approx(share)
