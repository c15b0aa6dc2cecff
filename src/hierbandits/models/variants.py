"""The hierarchies that baselines believe in, made from the one that is given."""

import numpy as np

from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_widths import UnknownWidths

RIDGE = 1.0
"""lambda, the precision of the prior of ridge regression."""


def as_given(prior: GaussianHierarchy) -> GaussianHierarchy:
    """The hierarchy itself."""
    return prior


def known_mean(prior: GaussianHierarchy) -> GaussianHierarchy:
    """The hierarchy of one who is told mu: hyper_cov is zero."""
    return prior.with_levels(prior.hyper_mean, [np.zeros_like(prior.hyper_cov), *prior.covs[1:]])


def marginal(prior: GaussianHierarchy) -> GaussianHierarchy:
    """Independent tasks, each with its marginal prior N(mu_q, Sigma_q + Sigma_0)."""
    covs = [np.zeros_like(prior.hyper_cov), sum(prior.covs[1:], prior.hyper_cov)]
    return prior.with_levels(prior.hyper_mean, covs)


def pooled(prior: GaussianHierarchy) -> GaussianHierarchy:
    """One parameter for all tasks of a population, with a task's marginal prior."""
    return prior.with_levels(prior.hyper_mean, [sum(prior.covs[1:], prior.hyper_cov)])


def ridge(prior: GaussianHierarchy) -> GaussianHierarchy:
    """Ridge regression in each task: N(0, I / lambda) in units of the noise."""
    one = np.ones(prior.dim) if prior.is_armed else np.eye(prior.dim)
    covs = [np.zeros_like(one), one / RIDGE]
    return prior.with_levels(np.zeros(prior.dim), covs, noise_std=1.0)


def unknown_widths(prior: GaussianHierarchy, *, noise_known: bool = False) -> UnknownWidths:
    """The hierarchy's form and hyper-mean alone; with `noise_known`, its noise too."""
    noise = prior.noise_std if noise_known else None
    return UnknownWidths.of(
        prior.dim, armed=prior.is_armed, noise_std=noise, hyper_mean=prior.hyper_mean
    )
