"""The spectrum: eigenvalues and norms by hand, units, and what it checks."""

from math import log, sqrt

import numpy as np
import pytest
from support.bound_priors import BOTH, by_hand, linear, random_prior

from hierbandits import GaussianHierarchy, bounds
from hierbandits.bounds import Spectrum


def test_the_spectrum_of_a_linear_hierarchy_by_hand():
    """Sigma_q has eigenvalues 1 and 3, Sigma_0 has 1/2 and 1/4, their sum has trace 4.75."""
    prior = linear([[2.0, 1.0], [1.0, 2.0]], np.diag([0.5, 0.25]), 0.5, [3.0, 4.0])
    spectrum = Spectrum.of(prior)
    assert (spectrum.dim, spectrum.is_armed, spectrum.noise_var) == (2, False, 0.25)
    assert spectrum.largest_hyper == pytest.approx(3)
    assert (spectrum.largest_task, spectrum.least_task) == pytest.approx((0.5, 0.25))
    assert spectrum.condition == pytest.approx(2)
    assert spectrum.total_trace == pytest.approx(4.75)
    assert spectrum.largest_total == pytest.approx((4.75 + sqrt(4.75**2 - 4 * 4.625)) / 2)
    # the inverse of [[2.5, 1], [1, 2.25]] is [[2.25, -1], [-1, 2.5]] / 4.625
    assert spectrum.mean_norm == pytest.approx(sqrt((2.25 * 9 - 2 * 12 + 2.5 * 16) / 4.625))
    assert spectrum.mean_gap == pytest.approx(10)
    assert spectrum.c == pytest.approx(3)


def test_the_spectrum_of_an_armed_hierarchy_is_its_variances():
    prior = GaussianHierarchy.armed(
        3, hyper_mean=[1.0, -1.0, 4.0], hyper_std=[1, 2, 1], task_std=[1, 0.5, 2], noise_std=0.5
    )
    spectrum = Spectrum.of(prior)
    assert (spectrum.dim, spectrum.is_armed) == (3, True)
    assert (spectrum.largest_hyper, spectrum.largest_task, spectrum.least_task) == (4, 4, 0.25)
    assert (spectrum.largest_total, spectrum.total_trace) == (5, 11.25)
    assert spectrum.mean_gap == 5  # from the worst arm to the best one
    assert spectrum.mean_norm == pytest.approx(sqrt(1 / 2 + 1 / 4.25 + 16 / 5))


def test_variance_per_information_is_the_most_of_any_smaller_variance():
    spectrum = Spectrum.of(by_hand())  # sigma^2 = 1/4
    assert spectrum.variance_per_information(2.0) == pytest.approx(2 / log(9))
    assert spectrum.variance_per_information(0.0) == 0.25
    smaller = np.linspace(1e-6, 2.0, 500)
    ratios = smaller / np.log1p(smaller / 0.25)
    assert ratios.max() == pytest.approx(spectrum.variance_per_information(2.0), rel=1e-12)
    assert spectrum.c1(8) == pytest.approx(0.5 / log(3) * log(9))  # 1 + 0.5 * 8 / (0.25 * 2) = 9


def test_eta_is_in_units_of_the_longest_arm():
    assert Spectrum.of(by_hand(), max_norm=2.0).unit_eta(3.0) == 0.75
    assert Spectrum.of(by_hand()).unit_eta(1 + 1e-12) == 1.0  # rounding is forgiven
    armed = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=1.0, noise_std=1.0)
    assert Spectrum.of(armed).unit_eta(None) == 1.0
    assert Spectrum.of(armed).unit_eta(0.5) == 0.5


def test_armed_hierarchies_have_finitely_many_arms():
    armed = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=1.0, noise_std=1.0)
    assert Spectrum.of(armed).finite_arms(None) == Spectrum.of(armed).finite_arms(3) == 3
    assert Spectrum.of(by_hand()).finite_arms(None) is None
    assert Spectrum.of(by_hand()).finite_arms(7) == 7


@BOTH
def test_max_norm_is_the_same_problem_with_longer_parameters(constants):
    rng = np.random.default_rng(10)
    prior = random_prior(rng, "skewed")
    scaled = linear(9 * prior.hyper_cov, 9 * prior.task_cov, prior.noise_std, 3 * prior.hyper_mean)
    options = {"constants": constants, "num_arms": 5}
    longer = bounds.concurrent(prior, 6, 20, 4, eta=2.7, max_norm=3.0, **options)
    unit = bounds.concurrent(scaled, 6, 20, 4, eta=0.3, **options)
    for (name, one, _), (_, other, _) in zip(longer.rows(), unit.rows(), strict=True):
        assert one == pytest.approx(other, rel=1e-12), name
    one = bounds.variance_bound(prior, 6, 20, max_norm=3.0, constants=constants)
    assert one == pytest.approx(bounds.variance_bound(scaled, 6, 20, constants=constants))
    one = bounds.ratio_bound(prior, 4, eta=2.7, max_norm=3.0, constants=constants)
    assert one == pytest.approx(bounds.ratio_bound(scaled, 4, eta=0.3, constants=constants))
    one = bounds.bayes_regret(prior, 2.0, 6, 20, max_norm=3.0, constants=constants)
    assert one == pytest.approx(bounds.bayes_regret(scaled, 2.0, 6, 20, constants=constants))
    for each in (bounds.oracle, bounds.independent):
        one = each(prior, 6, 20, max_norm=3.0, constants=constants).total
        assert one == pytest.approx(each(scaled, 6, 20, constants=constants).total)
    won = bounds.tasks_to_win(prior, 20, max_norm=3.0, constants=constants)
    assert won == bounds.tasks_to_win(scaled, 20, constants=constants)
