"""How probable rewards are if their linear predictors are Gaussian."""

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from hierbandits.kernels.predictive_density import log_predictive
from hierbandits.models import FAMILIES


def test_it_is_the_log_of_an_integral():
    family, grid = FAMILIES["bernoulli"](), np.linspace(-40, 40, 200_001)
    mean, var = np.array([-3.0, 0.4, 2.0]), np.array([2.0, 0.05, 30.0])
    for reward in (0.0, 1.0):
        out = np.empty(3)
        ones = np.ones(3)
        log_predictive(family.code, family.shape, reward * ones, ones, mean, var, out)
        density = expit(grid if reward else -grid)
        step = grid[1] - grid[0]
        exact = [
            (density * norm.pdf(grid, m, np.sqrt(v))).sum() * step
            for m, v in zip(mean, var, strict=True)
        ]
        np.testing.assert_allclose(out, np.log(exact), atol=1e-4)


def test_a_predictor_that_is_known_needs_no_integral():
    family, out = FAMILIES["poisson"](), np.empty(1)
    one = np.ones(1)
    log_predictive(family.code, family.shape, 2 * one, one, 0.3 * one, 0 * one, out)
    np.testing.assert_allclose(out[0], 2 * 0.3 - np.exp(0.3), atol=1e-5)
