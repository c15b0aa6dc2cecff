"""Covariances as people state them."""

import numpy as np
import pytest

from hierbandits.models.stated_covs import (
    checked_covariance,
    checked_variances,
    parts_in_common,
)


def test_rounding_is_forgiven_and_made_symmetric():
    loading = np.random.default_rng(0).standard_normal((5, 2))
    singular = loading @ loading.T
    singular[0, 1] += 1e-12
    cov = checked_covariance("task_cov", singular, 5)
    np.testing.assert_array_equal(cov, cov.T)
    np.testing.assert_allclose(cov, loading @ loading.T, atol=1e-11)


@pytest.mark.parametrize(
    ("cov", "message"),
    [
        ([[1.0, 0.1], [0.2, 1.0]], "c must be symmetric, got entries that differ by 0.1"),
        (
            [[1.0, 0.0], [0.0, -1e-6]],
            "c must be positive semi-definite, got an eigenvalue of -1e-06",
        ),
        ([[1.0]], r"c must have shape \(2, 2\)"),
    ],
)
def test_bad_covariances_are_named(cov, message):
    with pytest.raises(ValueError, match=message):
        checked_covariance("c", cov, 2)


def test_variances_are_not_negative():
    assert checked_variances("v", [0.0, 2.0], 2).tolist() == [0.0, 2.0]
    with pytest.raises(ValueError, match="v must not be negative, got a variance of -1"):
        checked_variances("v", [0.0, -1.0], 2)


def test_parts_in_common_are_found_where_there_are_any():
    own, common = parts_in_common(np.diag([0.5, 1.0, 0.25]) + 2.0)
    np.testing.assert_allclose(own, [0.5, 1.0, 0.25])
    assert common == 2.0
    own, common = parts_in_common(np.diag([0.5, 1.0]))
    assert (own.tolist(), common) == ([0.5, 1.0], 0.0)
    assert parts_in_common(np.array([[3.0]])) == ([3.0], 0.0)
    rounded = np.diag([0.5, 1.0, 0.25]) + 0.1
    rounded[0, 1] = rounded[1, 0] = np.nextafter(0.1, 1)
    own, common = parts_in_common(rounded)
    assert common == pytest.approx(0.1)


@pytest.mark.parametrize(
    "cov",
    [
        [[1.0, 0.1, 0.1], [0.1, 1.0, 0.2], [0.1, 0.2, 1.0]],
        [[1.0, -0.1], [-0.1, 1.0]],  # nothing that they have in common pulls them apart
        [[1.0, 0.5], [0.5, 0.4]],  # more in common than one has in all
    ],
)
def test_other_covariances_have_no_part_in_common(cov):
    assert parts_in_common(np.array(cov)) is None
