"""Priors and small algebra for the tests of the bounds, and the mark for both sets of constants."""

import numpy as np
import pytest

from hierbandits import GaussianHierarchy

BOTH = pytest.mark.parametrize("constants", ["paper", "repaired"])
inv = np.linalg.inv


def linear(hyper_cov, task_cov, noise_std, hyper_mean=None):
    mean = np.zeros(len(task_cov)) if hyper_mean is None else hyper_mean
    return GaussianHierarchy(
        hyper_mean=mean, hyper_cov=hyper_cov, task_cov=task_cov, noise_std=noise_std
    )


def isotropic(task_std, hyper_std, d=2, noise_std=0.5):
    return linear(hyper_std**2 * np.eye(d), task_std**2 * np.eye(d), noise_std)


def skewed(rng, d, low=-1.5, high=0.5):
    """A covariance with eigenvalues over some decades, in a random basis."""
    basis, _ = np.linalg.qr(rng.standard_normal((d, d)))
    cov = basis * 10 ** rng.uniform(low, high, d) @ basis.T
    return (cov + cov.T) / 2


def random_prior(rng, kind, d=3):
    noise_std = rng.uniform(0.2, 1.5)
    if kind == "armed":
        stds = 10 ** rng.uniform(-0.8, 0.4, (2, d))
        return GaussianHierarchy.armed(
            d,
            hyper_mean=rng.standard_normal(d),
            hyper_std=stds[0],
            task_std=stds[1],
            noise_std=noise_std,
        )
    if kind == "correlated":
        covs = {"hyper_cov": skewed(rng, d), "task_cov": skewed(rng, d)}
        mean = rng.standard_normal(d)
        return GaussianHierarchy.armed(d, hyper_mean=mean, **covs, noise_std=noise_std)
    task_cov = skewed(rng, d) if kind == "skewed" else rng.uniform(0.05, 2) * np.eye(d)
    return linear(skewed(rng, d), task_cov, noise_std, rng.standard_normal(d))


def by_hand():
    """kappa = 2, sigma^2 = 1/4; with m = 4 and n = 8, c1 = 1 and the printed c2 = 24."""
    return linear(np.diag([2.0, 1.0]), np.diag([0.5, 0.25]), 0.5, [1.0, 1.0])


def log_det(matrix):
    sign, value = np.linalg.slogdet(matrix)
    assert sign > 0
    return value


def largest_eigenvalue(product):
    """Of a product of two covariances, which need not be symmetric."""
    return np.linalg.eigvals(product).real.max()


def check(bound, **expected):
    for name, value in expected.items():
        assert getattr(bound, name) == pytest.approx(value, rel=1e-12, abs=1e-12), name
