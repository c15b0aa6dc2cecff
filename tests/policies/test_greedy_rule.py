"""Greedy: the arm of highest posterior mean is played."""

import numpy as np
from scipy import stats
from support.rules import RAGGED, TASKS, arms_for, rewarded_belief

from hierbandits.policies import BeliefView, greedy


def test_ties_are_broken_at_random():
    belief = rewarded_belief(False)
    view, arms = BeliefView(belief), arms_for(belief, np.ones((4, 3)), [0])
    rng = np.random.default_rng(2)
    picks = [greedy(view, rng, np.array([0]), arms)[0] for _ in range(4000)]
    counts = np.bincount(picks, minlength=4)
    assert stats.chisquare(counts).pvalue > 1e-6


def test_without_a_tie_nothing_is_random():
    belief = rewarded_belief(False)
    view, arms = BeliefView(belief), arms_for(belief, RAGGED, TASKS)
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    first = greedy(view, rng, TASKS, arms)
    assert rng.bit_generator.state == before
    np.testing.assert_array_equal(greedy(view, np.random.default_rng(4), TASKS, arms), first)
