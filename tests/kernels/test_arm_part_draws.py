"""Draws of the parts that arms share; `test_arm_width_draws` has their posterior."""

import numpy as np

from hierbandits.kernels.arm_part_draws import draw_gaussian


def test_draws_have_the_mean_and_the_covariance_of_a_precision():
    rng = np.random.default_rng(0)
    precision = np.array([[2.0, 0.0, 0.0], [0.5, 1.0, 0.0], [-0.3, 0.4, 3.0]])
    told, draws = np.array([1.0, -2.0, 0.5]), np.empty((40_000, 3))
    for row in draws:
        row[:] = told
        draw_gaussian(rng, precision, row)
    whole = precision + np.tril(precision, -1).T
    np.testing.assert_allclose(draws.mean(0), np.linalg.solve(whole, told), atol=0.03)
    np.testing.assert_allclose(np.cov(draws.T), np.linalg.inv(whole), atol=0.05)
