"""One event's site, replaced."""

import numpy as np
from numpy.testing import assert_allclose

from hierbandits.kernels.matched_site import WORK, log_share, matched_site
from hierbandits.kernels.site_change import site_change
from hierbandits.models import BernoulliRewards, GaussianRewards, PoissonRewards

WORKED = np.empty(WORK)


def test_a_site_taken_out_and_put_back_changes_nothing():
    """Given the site that matches, what is known has the moments of its own cavity's posterior."""
    family, mean, var, sites = PoissonRewards(), 0.4, 0.9, np.zeros((3, 2))
    event = (3.0, 1.5, 0.0)
    gain, shift, log_z, moved = site_change(family.code, *event, mean, var, sites, 1, WORKED)
    assert_allclose(sites[:2, 1], [gain, shift])
    assert_allclose([*sites[:2, 1], log_z], matched_site(family.code, *event, mean, var, WORKED))
    assert moved > 0.1
    assert not sites[:, 0].any()  # another event's
    after = 1 / (1 / var + gain)
    again = site_change(family.code, *event, after * (mean / var + shift), after, sites, 1, WORKED)
    assert_allclose(again, 0.0, atol=1e-9)


def test_a_site_that_is_all_that_is_known_stays():
    sites = np.array([[4.0], [1.0], [0.0]])
    kept = sites.copy()
    change = site_change(GaussianRewards().code, 1.0, 1.0, 1.0, 0.25, 0.25, sites, 0, WORKED)
    assert change == (0.0, 0.0, 0.0, 0.0)
    assert_allclose(sites, kept)


def test_nothing_is_learned_of_what_is_known_for_certain():
    sites = np.zeros((3, 1))
    gain, shift, log_z, _ = site_change(
        BernoulliRewards().code, 1.0, 1.0, 0.0, -1.0, 0.0, sites, 0, WORKED
    )
    assert (gain, shift) == (0.0, 0.0)
    assert_allclose(log_z, -np.log1p(np.exp(1.0)))


def test_log_share_is_an_integral():
    grid = np.linspace(-12, 12, 20001)
    density = np.exp(-((grid - 0.7) ** 2) / (2 * 0.8)) / np.sqrt(2 * np.pi * 0.8)
    share = np.trapezoid(density * np.exp(1.3 * grid - 0.6 * grid**2 / 2), grid)
    assert_allclose(log_share(0.7, 0.8, 0.6, 1.3), np.log(share), rtol=1e-9)
