"""Checks and sums of whole numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln

from hierbandits.kernels.whole_numbers import all_ones, all_whole, log_orders


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
def test_all_whole(values, expected):
    assert all_whole(np.array(values), 2.0) is expected


def test_no_number_is_not_whole():
    assert not all_whole(np.array([1.0, np.nan]), np.inf)


def test_all_ones():
    assert all_ones(np.ones(3))
    assert not all_ones(np.array([1.0, 1.0 + 1e-15]))


def test_log_orders():
    counts, exposure = np.array([0.0, 3.0, 255.0, 256.0, 1e4]), np.array([1.0, 2.5, 1.0, 0.3, 7.0])
    assert_allclose(
        log_orders(counts, exposure), counts * np.log(exposure) - gammaln(counts + 1), rtol=1e-13
    )
