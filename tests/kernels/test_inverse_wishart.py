"""Draws of covariances, against scipy's moments."""

import numpy as np

from hierbandits.kernels.inverse_wishart import draw_inverse_wishart


def test_draws_have_the_moments_of_the_inverse_wishart():
    rng, dim, freedom = np.random.default_rng(0), 3, 12.0
    scatter = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 3.0]])
    space, cov = np.zeros((3, dim, dim)), np.empty((dim, dim))
    draws = np.empty((20_000, dim, dim))
    for draw in draws:
        draw_inverse_wishart(rng, scatter, freedom, *space, cov)
        draw[:] = cov
    np.testing.assert_array_equal(draws, draws.transpose(0, 2, 1))
    mean = scatter / (freedom - dim - 1)
    error = draws.std(0) / np.sqrt(len(draws))
    np.testing.assert_array_less(np.abs(draws.mean(0) - mean), 5 * error)
    # Sigma^-1 is Wishart: its mean is freedom * scatter^-1, its variances are known too.
    precision, inverse = np.linalg.inv(draws), np.linalg.inv(scatter)
    error = precision.std(0) / np.sqrt(len(draws))
    np.testing.assert_array_less(np.abs(precision.mean(0) - freedom * inverse), 5 * error)
    var = freedom * (inverse**2 + np.outer(np.diagonal(inverse), np.diagonal(inverse)))
    np.testing.assert_allclose(precision.var(0), var, rtol=0.1)
