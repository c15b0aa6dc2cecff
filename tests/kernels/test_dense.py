"""One step of the square-root recursion, against conditioning in plain numpy."""

import numpy as np
from support.oracle import random_cov

from hierbandits.kernels import dense, diagonal


def test_conditioning_a_node_is_conditioning_a_gaussian():
    rng = np.random.default_rng(0)
    d, noise_var, y = 4, 0.3, 1.7
    cov, mean, x = random_cov(rng, d), rng.standard_normal((1, d)), rng.standard_normal(d)
    factor = np.linalg.cholesky(cov)[None].copy()
    before, cov_x, scaled = mean[0].copy(), np.empty(d), np.empty(d)
    residual, var = dense.condition(mean, factor, 0, x, noise_var, y, scaled, cov_x)
    expected_var = x @ cov @ x + noise_var
    np.testing.assert_allclose([residual, var], [y - x @ before, expected_var])
    np.testing.assert_allclose(cov_x, cov @ x)
    np.testing.assert_allclose(mean[0], before + cov @ x * (y - x @ before) / expected_var)
    after = cov - np.outer(cov @ x, cov @ x) / expected_var
    np.testing.assert_allclose(factor[0] @ factor[0].T, after, atol=1e-14)


def test_sums_by_both_forms_agree():
    rng = np.random.default_rng(1)
    tasks, arms, rewards = rng.integers(0, 3, 20), rng.integers(0, 2, 20), rng.standard_normal(20)
    shapes = ((3, 2, 2), (3, 2), (3,), (3,))
    full = [np.zeros(shape) for shape in shapes]
    dense.accumulate(tasks, np.eye(2)[arms], rewards, *full)
    counts = [np.zeros(shape) for shape in ((3, 2), *shapes[1:])]
    diagonal.accumulate(tasks, arms, rewards, *counts)
    np.testing.assert_allclose(np.diagonal(full[0], axis1=1, axis2=2), counts[0])
    for one, other in zip(full[1:], counts[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)
