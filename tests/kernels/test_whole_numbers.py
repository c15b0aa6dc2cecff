"""Checks and sums of whole numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln

from hierbandits.kernels.whole_numbers import all_single_counts, log_orders


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], True),
        ([0.0, 1.0, 2.0], True),
        ([0.0, 3.0], False),
        ([-1.0], False),
        ([0.5, 1.0], False),
    ],
)
def test_single_counts(values, expected):
    assert all_single_counts(np.array(values), np.ones(len(values)), 2.0) is expected


def test_no_number_is_not_whole():
    assert not all_single_counts(np.array([1.0, np.nan]), np.ones(2), np.inf)


def test_single_counts_have_an_exposure_of_one_each():
    assert not all_single_counts(np.ones(2), np.array([1.0, 1.0 + 1e-15]), 2.0)
    assert not all_single_counts(np.ones(2), np.ones(3), 2.0)


def test_log_orders():
    counts, exposure = np.array([0.0, 3.0, 255.0, 256.0, 1e4]), np.array([1.0, 2.5, 1.0, 0.3, 7.0])
    assert_allclose(
        log_orders(counts, exposure), counts * np.log(exposure) - gammaln(counts + 1), rtol=1e-13
    )
