"""The models that baselines believe in, made from the one that is given."""

from typing import TypeVar

import numpy as np

from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.grid_hierarchy import GridHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.model import Model
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.models.unknown_widths import UnknownWidths

Stated = TypeVar("Stated", GaussianHierarchy, GeneralizedHierarchy)

RIDGE = 1.0
"""lambda, the precision of the prior of ridge regression."""


def as_given(prior: Model) -> Model:
    """The model itself."""
    return prior


def known_mean(prior: Stated) -> Stated:
    """The hierarchy of one who is told mu: hyper_cov is zero."""
    given = _hierarchy(prior)
    covs = [np.zeros_like(given.hyper_cov)]
    covs.extend(given.covs[1:])
    return given.with_levels(given.hyper_mean, covs)


def marginal(prior: Stated) -> Stated:
    """Independent tasks, each with its marginal prior N(mu_q, Sigma_q + Sigma_0)."""
    given = _hierarchy(prior)
    covs = [np.zeros_like(given.hyper_cov), sum(given.covs[1:], given.hyper_cov)]
    return given.with_levels(given.hyper_mean, covs)


def pooled(prior: Stated) -> Stated:
    """One parameter for all tasks of a population, with a task's marginal prior."""
    given = _hierarchy(prior)
    return given.with_levels(given.hyper_mean, [sum(given.covs[1:], given.hyper_cov)])


def ridge(prior: Stated) -> Stated:
    """Ridge regression in each task: N(0, I / lambda) in units of the noise."""
    given = _hierarchy(prior)
    one = np.ones(given.dim) if given.is_armed else np.eye(given.dim)
    covs = [np.zeros_like(one), one / RIDGE]
    return given.with_levels(np.zeros(given.dim), covs, noise_std=1.0)


def unknown_widths(
    prior: Model, *, noise_known: bool = False
) -> UnknownWidths | UnknownFamilyWidths | GridHierarchy:
    """The hierarchy's form and hyper-mean alone; with `noise_known`, its noise too.

    A model whose widths are unknown is believed as it is.
    """
    if isinstance(prior, UnknownWidths | UnknownFamilyWidths | GridHierarchy):
        return prior
    if isinstance(prior, GeneralizedHierarchy):
        open_widths = unknown_widths(prior.hierarchy)
        assert isinstance(open_widths, UnknownWidths)
        return UnknownFamilyWidths(open_widths, prior.rewards)
    if not isinstance(prior, GaussianHierarchy):
        raise ValueError(f"prior must be a GaussianHierarchy for this policy, got {prior!r:.80}")
    given = prior
    return UnknownWidths.of(
        given.dim,
        armed=given.is_armed,
        noise_std=given.noise_std if noise_known else None,
        hyper_mean=given.hyper_mean,
        learned_from=given.learned_from,
    )


def _hierarchy(prior: Stated) -> Stated:
    """The prior, if it states its widths."""
    if not isinstance(prior, GaussianHierarchy | GeneralizedHierarchy):
        raise ValueError(f"prior must be a GaussianHierarchy for this policy, got {prior!r:.80}")
    return prior
