"""Moments that are looked up beside sums over a fine grid, and where there is no table."""

import numpy as np
import pytest

from hierbandits.kernels.matched_site import matched_moments, summed_moments
from hierbandits.kernels.moment_table import CELL, HIGHEST, LOWEST, WIDEST, tabled_moments
from hierbandits.models import BernoulliRewards, BinomialRewards, GaussianRewards, PoissonRewards

CLICK, COUNT = BernoulliRewards().code[4], PoissonRewards().code[4]
GRID = np.linspace(-16, 14, 12_001)


def _exact(log_density, mean, std):
    """log Z, and the mean and the variance given the reward."""
    eta = mean + std * GRID
    log_p = log_density(eta) - GRID**2 / 2
    weight = np.exp(log_p - log_p.max())
    log_z = log_p.max() + np.log(weight.sum() * (GRID[1] - GRID[0]) / np.sqrt(2 * np.pi))
    weight /= weight.sum()
    centre = weight @ eta
    return log_z, centre, weight @ (eta - centre) ** 2


def _assert_close(moments, exact, mean, std, tolerance):
    is_done, log_z, slope, curvature = moments
    assert is_done
    assert log_z == pytest.approx(exact[0], abs=tolerance)
    assert mean + std**2 * slope == pytest.approx(exact[1], abs=tolerance * np.sqrt(exact[2]))
    assert std**2 * (1 - std**2 * curvature) == pytest.approx(exact[2], rel=tolerance)


@pytest.mark.parametrize("click", [0.0, 1.0])
@pytest.mark.parametrize("std", [1e-4, 0.05, 0.3, 0.6, 0.8, 1.0, 1.36])
def test_clicks_are_right_to_one_part_in_twenty_million(std, click):
    for mean in np.random.default_rng(0).uniform(LOWEST, HIGHEST - WIDEST, 40):
        exact = _exact(lambda eta: click * eta - np.logaddexp(0, eta), mean, std)
        _assert_close(tabled_moments(CLICK, click, mean, std**2), exact, mean, std, 5e-8)


@pytest.mark.parametrize("count", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("std", [1e-3, 0.05, 0.2, 0.5, 0.8])
def test_counts_are_right_to_one_part_in_twenty_million(std, count):
    done = 0
    for mean in np.random.default_rng(1).uniform(LOWEST, 4.0, 40):
        moments = tabled_moments(COUNT, count, mean, std**2)
        if not moments[0]:
            continue
        done += 1
        exact = _exact(lambda eta: count * eta - np.exp(eta), mean, std)
        _assert_close(moments, exact, mean, std, 5e-8)
    assert done >= 20


def test_cells_meet():
    """On both sides of an edge, of means or of variances, moments are nearly the same."""
    for table, mean, var in ((CLICK, 0.0, 0.3), (COUNT, -1.0, 0.3)):
        edges = [(mean, var), (mean + CELL, var), (mean + 0.1, 0.125), (mean + 0.1, 0.375)]
        for at, known in edges:
            low = tabled_moments(table, 0.0, at - 1e-12, known - 1e-12)
            high = tabled_moments(table, 0.0, at + 1e-12, known + 1e-12)
            np.testing.assert_allclose(low, high, atol=1e-7)


def test_outside_of_the_table_nothing_is_looked_up():
    inside = tabled_moments(CLICK, 0.0, HIGHEST - 0.01, WIDEST - 1e-6)
    assert inside[0]
    for table, reward, mean, var in (
        (CLICK, 0.0, HIGHEST, 0.1),
        (CLICK, 0.0, LOWEST - 1e-9, 0.1),
        (CLICK, 1.0, HIGHEST - 0.5, 0.5),
        (CLICK, 0.0, 0.0, WIDEST),
        (CLICK, 0.0, np.nan, 0.1),
        (CLICK, 0.0, 0.0, np.nan),
        (CLICK, 0.0, 0.0, -1.0),
        (COUNT, 0.0, 3.9, WIDEST / 40),
        (COUNT, 0.0, 5.0, 1e-6),
        (COUNT, 30.0, 0.0, 1.0),
    ):
        assert not tabled_moments(table, reward, mean, var)[0]


@pytest.mark.parametrize(
    ("family", "event"),
    [
        (BernoulliRewards(), (1.0, 1.0)),
        (BinomialRewards(), (0.0, 1.0)),
        (PoissonRewards(), (2.0, 1.0)),
    ],
)
def test_tables_and_sums_agree(family, event):
    for mean in (-3.0, -0.5, 0.7):
        for var in (1e-4, 0.05, 0.3):
            looked_up = matched_moments(family.code, *event, 0.0, mean, var)
            summed = summed_moments(family.code, *event, 0.0, mean, var)
            assert looked_up[3] == pytest.approx(summed[3], rel=2e-6)
            assert looked_up[1] == pytest.approx(summed[1], abs=2e-6 * np.sqrt(summed[3] / var))
            assert looked_up[0] == pytest.approx(summed[0], abs=1e-6)


def test_trials_wide_and_far_predictors_take_the_longer_sum():
    code = BinomialRewards().code
    for event in (
        (1.0, 3.0, 0.0, 0.3, 0.2),
        (1.0, 1.0, 0.0, 0.3, WIDEST),
        (1.0, 1.0, 0.0, LOWEST - 1.0, 0.2),
    ):
        looked_up, summed = matched_moments(code, *event), summed_moments(code, *event)
        np.testing.assert_allclose(looked_up, summed, rtol=1e-12)  # compiled twice


def test_a_family_of_another_form_has_no_table():
    assert GaussianRewards(1.0).code[4] == 0
