"""Upper confidence bounds: the arm of highest bound is played."""

import numpy as np
import pytest
from support.rules import RAGGED, TASKS, arms_for, rewarded_belief

from hierbandits.policies import BeliefView, Ucb, greedy, ucb_width


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


def test_a_width_must_be_a_number():
    for width in (np.nan, np.inf, "wide", [1.0, 2.0]):
        with pytest.raises(ValueError, match="width must"):
            Ucb(width)
