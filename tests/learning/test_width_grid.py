"""Sums over a grid of widths."""

import numpy as np
import pytest

from hierbandits.learning.width_grid import LARGEST_SHARE, finer, log_weights, masses


def test_weights_are_those_of_the_trapezoid_rule_in_log_width():
    widths = np.exp([0.0, 0.5, 2.0, 2.1])
    weights = np.exp(log_weights(widths))
    assert weights.sum() == pytest.approx(1.0)
    values = np.array([3.0, -1.0, 4.0, 1.0])
    assert weights @ values == pytest.approx(np.trapezoid(values, np.log(widths)) / 2.1)


def test_masses_sum_to_one_however_small_the_logs_are():
    np.testing.assert_allclose(masses(np.array([-5000.0, -5000.0 + np.log(3.0)])), [0.25, 0.75])


def test_the_grid_is_halved_beside_heavy_points_alone():
    widths = 2.0 ** np.arange(5)
    np.testing.assert_array_equal(finer(widths, np.full(5, LARGEST_SHARE)), widths)
    mass = np.array([0.0, 0.0, 0.001, 0.0, 0.999])
    np.testing.assert_allclose(finer(widths, mass), np.sort([*widths, 2.0**3.5]))
    both = finer(widths, mass, mass[::-1])
    np.testing.assert_allclose(both, np.sort([*widths, 2.0**3.5, 2.0**0.5]))


def test_a_grid_that_is_fine_enough_stays():
    widths = np.exp([0.0, 0.9e-4, 1.0])
    np.testing.assert_array_equal(finer(widths, np.array([1.0, 0.0, 0.0])), widths)
