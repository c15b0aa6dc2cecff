"""The hierarchies of the baselines, by hand."""

import numpy as np
import pytest
from support.oracle import random_cov

from hierbandits import GaussianHierarchy
from hierbandits.models import variants

RNG = np.random.default_rng(0)
LINEAR = GaussianHierarchy(
    hyper_mean=[1.0, -2.0],
    hyper_cov=random_cov(RNG, 2),
    task_cov=random_cov(RNG, 2, 0.5),
    noise_std=0.3,
)
ARMED = GaussianHierarchy.armed(
    2, hyper_mean=[1.0, -2.0], hyper_std=[1.0, 2.0], task_std=[0.5, 0.1], noise_std=0.3
)
DEEP = GaussianHierarchy.deep(
    hyper_mean=[0.5, 1.0], covs=[random_cov(RNG, 2) for _ in range(3)], noise_std=0.3
)
every = pytest.mark.parametrize("prior", [LINEAR, ARMED, DEEP], ids=["linear", "armed", "deep"])


@every
def test_a_known_mean_leaves_the_tasks_their_width(prior):
    known = variants.known_mean(prior)
    assert not known.hyper_cov.any()
    for mine, theirs in zip(known.covs[1:], prior.covs[1:], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert (known.noise_std, known.is_armed) == (prior.noise_std, prior.is_armed)


@every
def test_marginal_and_pooled_tasks_have_the_whole_covariance(prior):
    whole = sum(prior.covs[1:], prior.hyper_cov)
    alone, together = variants.marginal(prior), variants.pooled(prior)
    assert not alone.hyper_cov.any()
    np.testing.assert_allclose(alone.task_cov, whole)
    assert (alone.num_levels, together.num_levels) == (2, 1)
    np.testing.assert_allclose(together.hyper_cov, whole)
    for variant in (alone, together):
        np.testing.assert_array_equal(variant.hyper_mean, prior.hyper_mean)


@every
def test_ridge_regression_is_in_units_of_the_noise(prior):
    ridge = variants.ridge(prior)
    one = np.ones(2) if prior.is_armed else np.eye(2)
    assert (ridge.noise_std, variants.RIDGE) == (1.0, 1.0)
    assert not ridge.hyper_mean.any()
    np.testing.assert_array_equal(ridge.task_cov, one)


def test_unknown_widths_keep_the_form_and_the_mean_alone():
    widths = variants.unknown_widths(ARMED)
    assert (widths.is_armed, widths.dim, widths.noise_std) == (True, 2, None)
    np.testing.assert_array_equal(widths.hyper_mean, ARMED.hyper_mean)
    assert variants.unknown_widths(LINEAR, noise_known=True).noise_std == 0.3
    assert variants.as_given(LINEAR) is LINEAR


def test_unknown_widths_have_no_other_variants():
    widths = variants.unknown_widths(ARMED)
    assert variants.unknown_widths(widths, noise_known=True) is widths
    assert variants.as_given(widths) is widths
    for variant in (variants.known_mean, variants.marginal, variants.pooled, variants.ridge):
        with pytest.raises(ValueError, match="prior must be a GaussianHierarchy for this policy"):
            variant(widths)
