"""The odds of choices: shares of draws, and shares of the best."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hierbandits import Arms
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
