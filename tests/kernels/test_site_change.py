"""One event's site, replaced."""

import numpy as np
from numpy.testing import assert_allclose

from hierbandits.kernels.matched_site import log_share, matched_site
from hierbandits.kernels.site_change import end_scales, site_change
from hierbandits.models import BernoulliRewards, GaussianRewards, PoissonRewards

EMPTY = (0.0, 0.0, 0.0)


def _with_scale(site, kept):
    sites = np.array(site)[:, None]
    end_scales(sites, np.array([kept]))
    return tuple(sites[:, 0].tolist())


def test_a_site_taken_out_and_put_back_changes_nothing():
    """Given the site that matches, what is known has the moments of its own cavity's posterior."""
    family, mean, var = PoissonRewards(), 0.4, 0.9
    event = (3.0, 1.5, 0.0)
    site, kept, gain, shift, log_z, moved = site_change(family.code, *event, mean, var, EMPTY)
    assert_allclose(site[:2], [gain, shift])
    assert_allclose([*site[:2], log_z], matched_site(family.code, *event, mean, var))
    site = _with_scale(site, kept)
    assert_allclose(site[2], log_z - log_share(mean, var, gain, shift), rtol=1e-12)
    after = 1 / (1 / var + gain)
    moved_mean = after * (mean / var + shift)
    far = max(abs(moved_mean - mean) / np.sqrt(var), gain * var / 2)
    assert_allclose(moved, far**2, rtol=1e-9)
    again, kept, *change = site_change(family.code, *event, moved_mean, after, site)
    assert kept == 1.0
    assert_allclose(again, site, atol=1e-9)
    assert_allclose(change, 0.0, atol=1e-9)


def test_an_old_site_changes_by_what_matches_in_its_cavity():
    """Its log evidence is that of the cavity, the new site in and the old one out."""
    family, event, old = BernoulliRewards(), (1.0, 1.0, 0.0), (0.3, 0.4, -0.2)
    mean, var = 0.5, 0.8
    left = 1 - old[0] * var
    before, cavity = (mean - old[1] * var) / left, var / left
    site, _, gain, shift, log_change, moved = site_change(family.code, *event, mean, var, old)
    own, along, log_z = matched_site(family.code, *event, before, cavity)
    assert_allclose(site[:2], [own, along], rtol=1e-9)
    assert_allclose(site[2], log_z - log_share(before, cavity, own, along), rtol=1e-9)
    assert_allclose([gain, shift], [own - old[0], along - old[1]], rtol=1e-9)
    was = old[2] + log_share(before, cavity, *old[:2])
    assert_allclose(log_change, log_z - was, rtol=1e-9)
    after = 1 / (1 / var + gain)
    far = max(abs(after * (mean / var + shift) - mean) / np.sqrt(var), abs(gain) * var / 2)
    assert_allclose(moved, far**2, rtol=1e-9)


def test_a_site_that_is_all_that_is_known_stays():
    site = (4.0, 1.0, 0.0)
    change = site_change(GaussianRewards().code, 1.0, 1.0, 1.0, 0.25, 0.25, site)
    assert change == (site, 1.0, 0.0, 0.0, 0.0, 0.0)


def test_nothing_is_learned_of_what_is_known_for_certain():
    site, kept, gain, shift, log_z, _ = site_change(
        BernoulliRewards().code, 1.0, 1.0, 0.0, -1.0, 0.0, EMPTY
    )
    assert (gain, shift, kept) == (0.0, 0.0, 1.0)
    assert_allclose(log_z, -np.log1p(np.exp(1.0)))
    assert site == (0.0, 0.0, log_z)


def test_a_reward_that_cannot_be_changes_nothing():
    """A count where the rate is known to be next to nothing has no log density to speak of."""
    for count, mean in ((1.0, -1e205), (1e150, -1e150)):  # the second has no number at all
        change = site_change(PoissonRewards().code, count, 1.0, 0.0, mean, 1e-3, EMPTY)
        assert change == (EMPTY, 1.0, 0.0, 0.0, 0.0, 0.0)


def test_log_share_is_an_integral():
    grid = np.linspace(-12, 12, 20001)
    density = np.exp(-((grid - 0.7) ** 2) / (2 * 0.8)) / np.sqrt(2 * np.pi * 0.8)
    share = np.trapezoid(density * np.exp(1.3 * grid - 0.6 * grid**2 / 2), grid)
    assert_allclose(log_share(0.7, 0.8, 0.6, 1.3), np.log(share), rtol=1e-9)


def test_large_counts_keep_their_digits():
    """Log densities of 1e15 have errors of 1: what so many counts tell is Gaussian."""
    for count, cavity in ((1e12, 25.0), (1e15, 25.0), (1e18, 1e-4)):
        mean = np.log(count) - 1e-9
        site, *_ = site_change(PoissonRewards().code, count, 1.0, 0.0, mean, cavity, EMPTY)
        assert_allclose(site[1] / site[0], np.log(count), rtol=1e-12)
        assert_allclose(site[0], count, rtol=1e-4)
