"""Conditioning a Gaussian on information that rounding has made negative."""

import numpy as np
import pytest

from hierbandits.algebra import condition


@pytest.mark.parametrize("rounding", [-0.99, -30.0])
def test_information_below_zero_counts_as_none(rounding):
    """Precisions beyond 1 / eps leave rounding in directions of which nothing is known."""
    known, unknown = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    precision = 1e4 * np.outer(known, known) + rounding * np.outer(unknown, unknown)
    mean, factor, log_det = condition(np.zeros(2), np.eye(2), precision, 2e4 * known)
    cov = np.outer(known, known) / (1e4 + 1) + np.outer(unknown, unknown)
    np.testing.assert_allclose(factor @ factor.T, cov, atol=1e-12)
    np.testing.assert_allclose(mean, 2e4 / (1e4 + 1) * known, atol=1e-11)
    np.testing.assert_allclose(log_det, np.log1p(1e4))
