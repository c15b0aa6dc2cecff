"""Estimates from the moments of weighted rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hierbandits.evaluation.estimators import ESTIMATORS, effective_size, estimate
from hierbandits.evaluation.moments import Moments


def test_effective_size_of_equal_weights_is_their_number():
    moments = Moments.zeros(2, 4)
    moments.add(np.zeros(50, int), np.full((50, 4), 2.0))
    assert_allclose(effective_size(moments), [50.0, 0.0])


@pytest.mark.parametrize(("second", "known"), [(0.1, False), (0.9, False), (1.0, True)])
def test_no_interval_below_two_effective_rows(second, known):
    """Two rows of weights 1 and b are (1 + b)^2 / (1 + b^2) rows."""
    moments = Moments.zeros(1, 4)
    weights, rewards = np.array([1.0, second]), np.array([3.0, 5.0])
    robust = 1.0 + weights * (rewards - 1.0)
    values = np.stack([weights, weights * rewards, robust, rewards], axis=1)
    moments.add(np.zeros(2, int), values)
    for method in ESTIMATORS:
        estimates = estimate(method, moments, 0.95)
        assert np.isfinite(estimates.value[0])
        assert np.isfinite(estimates.low[0]) == known
