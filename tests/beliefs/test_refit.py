"""When a belief refits; what a refit changed, told in standard deviations."""

import numpy as np
import pytest

from hierbandits.beliefs.refit import (
    FIRST_REFIT,
    ROWS_EACH,
    Refit,
    hyper_moves,
    much_is_new,
    surprise_due,
)


def test_the_furthest_mean_and_the_largest_ratio_of_widths():
    before = np.array([[0.0, 1.0, 5.0]]), np.array([[1.0, 2.0, 0.0]])
    after = np.array([[0.3, 0.0, 9.0]]), np.array([[0.5, 2.0, 0.0]])  # the last is known exactly
    refit = Refit.between(before, after, 7, 1e-4, 1e-3)
    assert (refit.sweeps, refit.change, refit.is_converged) == (7, 1e-4, True)
    assert refit.hyper_shift == pytest.approx(0.6)
    assert refit.hyper_log_width == pytest.approx(np.log(0.5))
    assert not Refit.between(before, after, 7, 1e-2, 1e-3).is_converged


def test_where_nothing_is_unknown_nothing_moves():
    known = np.ones((1, 2)), np.zeros((1, 2))
    assert Refit.between(known, known, 1, 0.0, 1e-3).hyper_shift == 0.0
    assert Refit.between(known, known, 1, 0.0, 1e-3).hyper_log_width == 0.0


def test_much_is_new_at_first_and_if_half_as_many_rewards_come_at_once():
    rewards, due = np.array([20.0, 21.0, 30.0, 40.0]), np.array([FIRST_REFIT, 21.0, 21.0, 42.0])
    assert much_is_new(rewards, due, 1.05).tolist() == [True, False, True, False]


def test_a_surprise_may_cost_so_much_and_no_more():
    """So many rows for each reward since the last time, which was at 100."""
    due = surprise_due(np.array([0, ROWS_EACH, 3 * ROWS_EACH]), np.full(3, 100.0))
    assert due.tolist() == [100.0, 101.0, 103.0]


def test_each_hyper_posterior_moves_by_itself():
    before = np.zeros((3, 2)), np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    after = (
        np.array([[0.3, 0.1], [0.0, 9.0], [0.0, 0.0]]),
        np.array([[0.5, 1.0], [1.0, 0.0], [1, 2]]),
    )
    assert hyper_moves(before, after).tolist() == pytest.approx([np.log(2), 0.0, np.log(2)])
