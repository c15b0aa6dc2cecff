"""The truth is one more draw from the posterior: its rank among others, for every belief."""

import numpy as np
import pytest
from support.posterior_ranks import (
    DRAWS,
    KNOWN,
    SUBJECTS,
    TASKS,
    Ranks,
    Subject,
    known_truths,
    ranks_of,
)

import hierbandits as hb

WORLDS = 300
FITTED = [name for name in SUBJECTS if name.startswith("Adaptive")]
WORST = "AdaptiveMatchedBelief, bernoulli, arms"  # a known flaw: docs/models.md has its numbers


@pytest.mark.parametrize("name", [name for name in SUBJECTS if name not in FITTED])
def test_no_rank_of_the_truth_is_preferred(name):
    subject = SUBJECTS[name]
    ranks = ranks_of(subject, WORLDS // subject.cost)
    assert ranks.p_values().min() > 1e-3
    error = np.sqrt(0.25 / ranks.below.shape[1])
    assert np.abs(ranks.held(0.5) - 0.5).max() < 3.5 * error


@pytest.mark.parametrize("name", FITTED)
def test_fitted_widths_leave_most_truths_within_their_intervals(name):
    """Widths are taken for known once they are fitted: docs/models.md says what that costs."""
    ranks = ranks_of(SUBJECTS[name], 12)
    assert ranks.held(0.9).mean() > (0.35 if name == WORST else 0.55)
    assert np.abs(ranks.middle - 0.5).max() < 0.25


@pytest.mark.parametrize(("scale", "shift"), [(0.3, 0.0), (1.0, 1.0)])
def test_a_wrong_prior_is_found_out(scale, shift):
    """What the other tests could not see if they were too weak."""
    right = KNOWN["arms"]
    wrong = right.with_levels(right.hyper_mean + shift, [scale * cov for cov in right.covs])
    subject = Subject(lambda worlds: hb.Belief(wrong, TASKS, worlds), known_truths(right), True)
    assert ranks_of(subject, WORLDS).p_values().min() < 1e-6


def test_ranks_are_counted():
    below = np.tile(np.arange(DRAWS + 1), 10)
    even = Ranks(np.array([below, np.full(below.size, 0)]))
    np.testing.assert_allclose(even.p_values(), [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(even.held(0.9), [0.9, 0.0])
    np.testing.assert_allclose(even.held(0.5), [0.5, 0.0])
    np.testing.assert_allclose(even.middle, [0.5, 0.5 / (DRAWS + 1)])
