"""Bounds that are uniform in intervals: who is highest, and how probable that was."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose
from scipy.stats import norm

from hierbandits.kernels.random_bounds import RARE, TAIL, chances, drawn_widths, highest


def ends_of(mean, std, width, jitter):
    return np.stack([mean + (width + step * jitter) * std for step in (-1, 1, TAIL)])


def all_chances(ends):
    size = ends.shape[1]
    out, zero = np.empty(size), np.zeros(size, np.intp)
    chances(ends, np.array([0, size]), zero, np.arange(size), out)
    return out


def distribution(ends, arm, left):
    """The distribution function of an arm's bound just right of `left`, as a polynomial."""
    low, middle, high = ends[:, arm]
    if left < low:
        return Polynomial([0.0])
    if left >= high:
        return Polynomial([1.0])
    if left < middle:
        slope = (1 - RARE) / (middle - low)
        return Polynomial([-low * slope, slope])
    slope = RARE / (high - middle)
    return Polynomial([1 - high * slope, slope])


def by_polynomials(ends):
    """The same integrals, of polynomials that numpy multiplies and integrates."""
    size = ends.shape[1]
    out = np.zeros(size)
    for left, right in pairwise(np.unique(ends)):
        for own in range(size):
            product = distribution(ends, own, left).deriv()
            for other in range(size):
                if other != own:
                    product *= distribution(ends, other, left)
            area = product.integ()
            out[own] += area(right) - area(left)
    return out


@given(st.integers(0, 2**32 - 1))
def test_chances_are_the_integrals_of_polynomials(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 6))
    ends = ends_of(0.3 * rng.standard_normal(size), rng.uniform(0.3, 1, size), 1.0, 0.4)
    got = all_chances(ends)
    assert_allclose(got, by_polynomials(ends), atol=1e-7)
    assert got.sum() == pytest.approx(1, abs=1e-10)


def test_many_arms_that_are_alike_share():
    for size, error in ((60, 1e-9), (300, 0.02)):
        ends = ends_of(np.zeros(size), np.ones(size), 1.0, 0.3)
        assert_allclose(all_chances(ends), 1 / size, rtol=error)


def test_bounds_of_one_value_share_what_they_win():
    ends = ends_of(np.array([1.0, 1.0, 0.0, 0.5]), np.array([0.0, 0.0, 1.0, 0.0]), 1.0, 1.0)
    above = RARE + (1 - RARE) / 2
    assert_allclose(all_chances(ends), [(1 - above) / 2, (1 - above) / 2, above, 0.0])
    assert all_chances(np.ones((3, 4))).tolist() == [0.25] * 4


def test_events_have_arms_of_their_own():
    mean, std = np.array([0.0, 1.0, 5.0, 1.0, 0.9]), np.array([1.0, 0.0, 0.0, 0.0, 1.0])
    out = np.empty(4)
    events, places = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 0])
    chances(ends_of(mean, std, 1.0, 0.5), np.array([0, 2, 5]), events, places, out)
    above = RARE + (1 - RARE) / 2
    assert_allclose(out, [above, 1 - above, 0.0, 1.0])


def test_widths_are_drawn_as_the_intervals_say():
    widths = np.sort(drawn_widths((np.arange(100_000) + 0.5) / 100_000, 2.0, 0.5))
    assert np.mean(widths > 2.5) == pytest.approx(RARE)
    usual, rare = widths[widths <= 2.5], widths[widths > 2.5]
    assert_allclose(usual, np.linspace(1.5, 2.5, usual.size), atol=1e-4)
    assert_allclose(rare, np.linspace(2.5, 2.0 + 0.5 * TAIL, rare.size), atol=0.01)


def test_the_highest_bound_is_played_with_the_widths_of_its_normals():
    rng = np.random.default_rng(1)
    for _ in range(50):
        mean, within, shared = rng.standard_normal(5), *rng.exponential(size=(2, 5))
        normals = rng.standard_normal(9)
        widths = drawn_widths(norm.cdf(normals[2:7]), 1.5, 0.3)
        bounds = mean + widths * np.sqrt(within + shared)
        assert highest(mean, within, shared, normals, 2, 1.5, 0.3) == bounds.argmax()


def test_ties_are_broken_by_the_last_normal():
    mean, none = np.array([0.0, 2.0, 2.0, 1.0, 2.0]), np.zeros(5)
    rng, counts = np.random.default_rng(2), np.zeros(5)
    for _ in range(3000):
        counts[highest(mean, none, none, rng.standard_normal(6), 0, 1.0, 0.5)] += 1
    assert counts[[0, 3]].sum() == 0
    assert (abs(counts[[1, 2, 4]] - 1000) < 6 * np.sqrt(3000 * 2 / 9)).all()
