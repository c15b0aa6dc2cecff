"""Exact posteriors of rewards of any family, by sums over grids: slow, and for two features."""

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import expit, logsumexp


@dataclass
class Exact:
    """The moments of the hyper-parameter and of every task, and the log evidence."""

    hyper_mean: np.ndarray  # (d,)
    hyper_cov: np.ndarray  # (d, d)
    task_means: np.ndarray  # (tasks, d)
    task_covs: np.ndarray  # (tasks, d, d)
    log_evidence: float


def log_density(family, rewards, exposure, eta):
    """The log density of rewards, (E,), for rows of linear predictors, (n, E)."""
    out = np.empty_like(eta)
    for e, (reward, size) in enumerate(zip(rewards, exposure, strict=True)):
        out[:, e] = LOG_DENSITIES[family.NAME](reward, size, family.shape, eta[:, e])
    return out


LOG_DENSITIES = {
    "gaussian": lambda y, n, std, eta: stats.norm.logpdf(y, n * eta, np.sqrt(n) * std),
    "bernoulli": lambda y, n, _, eta: stats.bernoulli.logpmf(y, expit(eta)),
    "binomial": lambda y, n, _, eta: stats.binom.logpmf(y, n, expit(eta)),
    "poisson": lambda y, n, _, eta: stats.poisson.logpmf(y, n * np.exp(eta)),
}
"""The families as scipy has them: of a reward, its exposure, a shape and linear predictors."""


def exact_posterior(hierarchy, family, num_tasks, events, points=101, reach=6.0):
    """The posterior of a hierarchy of two levels and two features.

    In coordinates in which task_cov is the identity the prior of a task given mu is a product, so
    what a task's rewards tell of mu is its likelihood on a grid, times a matrix on either side.
    `events` are (tasks, features, rewards, exposure).  `reach` is in prior standard deviations.
    """
    tasks, features, rewards, exposure = (np.asarray(part) for part in events)
    root = np.linalg.cholesky(hierarchy.task_cov)
    inverse = np.linalg.inv(root)
    mean = inverse @ hierarchy.hyper_mean
    cov = inverse @ hierarchy.hyper_cov @ inverse.T
    features = features @ root
    widths = np.sqrt(np.diag(cov) + 1.0)
    axes = [m + w * np.linspace(-reach, reach, points) for m, w in zip(mean, widths, strict=True)]
    steps = [axis[1] - axis[0] for axis in axes]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 2)
    away = grid - mean
    log_mu = -0.5 * np.einsum("ni,ij,nj->n", away, np.linalg.inv(cov), away)
    log_mu -= 0.5 * np.linalg.slogdet(2 * np.pi * cov)[1] - np.log(steps[0] * steps[1])
    kernels = [
        np.exp(-0.5 * (axis[:, None] - axis) ** 2) * step / np.sqrt(2 * np.pi)
        for axis, step in zip(axes, steps, strict=True)
    ]
    told, likelihoods, tops = [], [], []
    for task in range(num_tasks):
        mine = tasks == task
        log_p = log_density(family, rewards[mine], exposure[mine], grid @ features[mine].T).sum(1)
        tops.append(log_p.max())
        likelihood = np.exp(log_p - tops[-1]).reshape(points, points)
        likelihoods.append(likelihood)
        told.append(np.log(kernels[0] @ likelihood @ kernels[1].T + 1e-300).ravel())
    log_post = log_mu + np.sum(told, axis=0)
    total = logsumexp(log_post)
    weight = np.exp(log_post - total)
    hyper = _moments(grid, weight)
    each = []
    for task in range(num_tasks):
        others = np.exp(log_post - total - told[task]).reshape(points, points)
        # theta given the others: its likelihood times the mixture of its priors.
        density = likelihoods[task] * (kernels[0].T @ others @ kernels[1])
        each.append(_moments(grid, density.ravel() / density.sum()))
    back = [(root @ m, root @ c @ root.T) for m, c in (hyper, *each)]
    return Exact(
        back[0][0],
        back[0][1],
        np.array([m for m, _ in back[1:]]),
        np.array([c for _, c in back[1:]]),
        float(total + np.sum(tops)),
    )


def _moments(grid, weight):
    mean = weight @ grid
    away = grid - mean
    return mean, (away * weight[:, None]).T @ away
