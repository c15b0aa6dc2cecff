"""Small matrices one at a time, against numpy."""

import numpy as np

from hierbandits.kernels.small_matrices import factorise, factorise_above_one, invert_lower


def _spread_out(seed, dim):
    root = np.random.default_rng(seed).normal(size=(dim, dim))
    return root @ root.T + 0.1 * np.eye(dim)


def test_factors_and_their_inverses():
    cov = _spread_out(0, 5)
    lower, inverse = np.full((5, 5), 7.0), np.full((5, 5), 7.0)
    factorise(cov, lower)
    np.testing.assert_allclose(np.tril(lower), np.linalg.cholesky(cov), rtol=1e-12)
    assert (lower[np.triu_indices(5, 1)] == 7.0).all()
    invert_lower(lower, inverse)
    np.testing.assert_allclose(np.tril(inverse), np.linalg.inv(np.tril(lower)), atol=1e-12)
    assert (inverse[np.triu_indices(5, 1)] == 7.0).all()


def test_a_singular_covariance_has_a_factor():
    lower = np.zeros((3, 3))
    factorise(np.ones((3, 3)), lower)
    assert (np.diagonal(lower) > 0).all()
    np.testing.assert_allclose(lower @ lower.T, np.ones((3, 3)), atol=1e-6)


def test_what_is_added_to_one_keeps_its_digits():
    """Its pivots less one, where W has size 1e-20 and where it has size 1e10."""
    for size in (1e-20, 1.0, 1e10):
        more = size * _spread_out(1, 4)
        lower, above = np.zeros((4, 4)), np.empty(4)
        factorise_above_one(more, lower, above)
        np.testing.assert_allclose(lower, np.linalg.cholesky(np.eye(4) + more), atol=1e-12 * size)
        for i in range(4):  # a pivot is the Schur complement of the rows before it
            before = more[:i, :i] + np.eye(i)
            own = more[i, i] - more[i, :i] @ np.linalg.solve(before, more[:i, i])
            np.testing.assert_allclose(above[i], own, rtol=1e-9)
    lower, above = np.zeros((2, 2)), np.empty(2)
    factorise_above_one(np.array([[1e16, 1e16], [1e16, 1e16]]), lower, above)
    assert (above >= 0).all()
