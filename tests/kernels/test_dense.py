"""One step of the square-root recursion, against conditioning in plain numpy."""

import numpy as np
from support.oracle import random_cov

from hierbandits.kernels import dense


def test_conditioning_a_node_is_conditioning_a_gaussian():
    rng = np.random.default_rng(0)
    d, noise_var, y = 4, 0.3, 1.7
    cov, before, x = random_cov(rng, d), rng.standard_normal(d), rng.standard_normal(d)
    blocks = np.vstack([np.linalg.cholesky(cov), before])[None].copy()
    expected_var = x @ cov @ x + noise_var
    cov_x, scaled = np.empty((2, d))
    mean, var = dense.project(blocks, 0, x, scaled, cov_x)
    np.testing.assert_allclose([mean, var], [x @ before, x @ cov @ x])
    np.testing.assert_allclose(cov_x, cov @ x)
    residual, var = dense.condition(blocks, 0, x, noise_var, y, scaled, cov_x)
    np.testing.assert_allclose([residual, var], [y - x @ before, expected_var])
    np.testing.assert_allclose(cov_x, cov @ x)
    np.testing.assert_allclose(blocks[0, d], before + cov @ x * (y - x @ before) / expected_var)
    after = cov - np.outer(cov @ x, cov @ x) / expected_var
    np.testing.assert_allclose(blocks[0, :d] @ blocks[0, :d].T, after, atol=1e-14)
