"""What a refit changed, told in standard deviations."""

import numpy as np
import pytest

from hierbandits.beliefs.refit import Refit


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
