"""Normal numbers that are as rare as means of noise that is not Gaussian."""

import numpy as np
import pytest
from scipy import stats

from hierbandits.learning.noise_shape import NoiseShape


def numbers(z, skewness, excess, rows, share=1.0):
    z = np.asarray(z, float)[:, None]
    shape = NoiseShape.of_means(
        np.array([skewness]), np.array([excess]), np.full(z.shape, float(rows))
    )
    return shape.normal_numbers(z, np.full(z.shape, share))[:, 0]


@pytest.mark.parametrize("rows", [1, 2, 5, 17])
def test_means_of_exponential_noise_are_as_rare_as_gamma_numbers(rows):
    z = np.array([2.0, 3.0, 4.0, 6.0, 8.0])
    exact = stats.norm.isf(stats.gamma.sf(rows + np.sqrt(rows) * z, rows))
    np.testing.assert_allclose(numbers(z, 2.0, 6.0, rows), exact, atol=0.02)
    np.testing.assert_allclose(numbers(-z, -2.0, 6.0, rows), -exact, atol=0.02)


def test_laplace_noise_is_as_rare_as_it_is():
    z = np.array([-6.0, -2.0, 2.0, 3.0, 10.0])
    exact = stats.norm.isf(stats.laplace.sf(np.sqrt(2) * z))
    np.testing.assert_allclose(numbers(z, 0.0, 3.0, 1), exact, atol=0.06)


@pytest.mark.parametrize(
    ("skewness", "excess", "share"),
    [(0.0, 12.0, 0.6), (0.0, 60.0, 0.6), (2.0, 20.0, 0.6), (1.0, 3.0, 0.2)],
)
def test_a_gaussian_part_makes_what_is_left_less_odd(skewness, excess, share):
    """Two gamma numbers of one scale and a normal one, by a million draws."""
    rng = np.random.default_rng(0)
    scale = np.sqrt(excess / 6)
    up, down = (6 / excess + sign * skewness / (2 * scale**3) for sign in (1, -1))
    noise = scale * (rng.gamma(up / 2, size=10**6) - rng.gamma(down / 2, size=10**6))
    noise -= scale * (up - down) / 2
    drawn = np.sqrt(share) * noise + np.sqrt(1 - share) * rng.standard_normal(10**6)
    z = np.array([2.5, 3.0, 4.0])
    seen = stats.norm.isf([(drawn > value).mean() for value in z])
    np.testing.assert_allclose(numbers(z, skewness, excess, 1, share), seen, atol=0.13)


def test_gaussian_noise_and_light_tails_change_nothing():
    z = np.linspace(-9, 9, 19)
    for excess in (0.0, -1.2):
        np.testing.assert_array_equal(numbers(z, 0.0, excess, 3), z)
    np.testing.assert_allclose(numbers(z, 0.0, 6.0, 10**6), z, rtol=1e-3)  # many rows
    np.testing.assert_array_equal(numbers(z, 2.0, 6.0, 3, share=0.0), z)  # no noise


def test_numbers_grow_with_z_and_are_never_surer_than_gaussian_ones():
    z = np.concatenate([-np.geomspace(1e6, 1e-3, 80), [0.0], np.geomspace(1e-3, 1e6, 80)])
    for skewness, excess in ((0.0, 3.0), (2.0, 6.0), (-2.0, 6.0), (1.0, 90.0), (50.0, 1e9)):
        found = numbers(z, skewness, excess, 2, 0.7)
        assert np.isfinite(found).all()
        assert (np.abs(found) <= np.abs(z)).all()
        far = np.abs(z) > 3
        assert (np.diff(found[far]) > -1e-9).all()
