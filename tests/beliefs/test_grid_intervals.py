"""Quantiles of mixtures, beside those of single Betas and Gammas and of draws."""

import numpy as np
import pytest
from scipy import stats

from hierbandits.beliefs.grid_intervals import mixture_interval
from hierbandits.kernels.hyper_grid import BETA, GAMMA


@pytest.mark.parametrize(("had", "over"), [(0.0, 0.0), (3.0, 10.0), (1.0, 1e6)])
def test_one_cell_is_one_beta_or_gamma(had, over):
    up, u, one = np.array([0.25]), np.array([4.0]), np.array([1.0])
    beta = stats.beta(4 * 1.25 + had, 4 * 5 + over - had)
    assert mixture_interval(BETA, up, u, one, had, over, 0.025) == pytest.approx(
        (beta.ppf(0.025), beta.ppf(0.975)), rel=1e-6
    )
    gamma = stats.gamma(4 + had, scale=1 / (16 + over))
    assert mixture_interval(GAMMA, up, u, one, had, over, 0.025) == pytest.approx(
        (gamma.ppf(0.025), gamma.ppf(0.975)), rel=1e-6
    )


def test_a_mixture_has_the_quantiles_of_its_draws():
    rng = np.random.default_rng(0)
    up, u, w = np.array([0.1, 1.0, 9.0]), np.array([9.0, 0.5, 20.0]), np.array([0.2, 0.3, 0.5])
    cell = rng.choice(3, 100_000, p=w)
    a, b = u + u * up + 1.0, u + u / up + 2.0
    low, high = mixture_interval(BETA, up, u, w, 1.0, 3.0, 0.1)
    draws = rng.beta(a[cell], b[cell])
    assert (draws < low).mean() == pytest.approx(0.1, abs=0.006)
    assert (draws > high).mean() == pytest.approx(0.1, abs=0.006)


def test_what_is_as_good_as_at_an_end_has_an_end():
    low, high = mixture_interval(BETA, np.ones(1), np.full(1, 1e-9), np.ones(1), 0.0, 0.0, 0.01)
    assert low < 1e-100
    assert high == 1.0
