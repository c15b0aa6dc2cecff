"""Bounds that are uniform in intervals: who is highest, and how probable that was."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import erf

from hierbandits.kernels.random_bounds import chances, highest


def all_chances(low, high):
    out = np.empty(low.size)
    offset, zero = np.array([0, low.size]), np.zeros(low.size, np.intp)
    chances(low, high, offset, zero, np.arange(low.size), out)
    return out


def by_polynomials(low, high):
    """The same integrals, of polynomials that numpy multiplies and integrates."""
    ends = np.unique(np.concatenate([low, high]))
    out = np.zeros(low.size)
    for left, right in pairwise(ends):
        for own in np.flatnonzero((low <= left) & (high >= right)):
            product = np.polynomial.Polynomial([1.0 / (high[own] - low[own])])
            for b in range(low.size):
                if b != own and left < high[b]:
                    slope = 1 / (high[b] - low[b])
                    product *= (
                        np.polynomial.Polynomial([-low[b] * slope, slope]) if left >= low[b] else 0
                    )
            area = product.integ()
            out[own] += area(right) - area(left)
    return out


@given(st.integers(0, 2**32 - 1))
def test_chances_are_the_integrals_of_polynomials(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 7))
    low = rng.standard_normal(size)
    high = low + rng.exponential(size=size)
    got = all_chances(low, high)
    assert_allclose(got, by_polynomials(low, high), atol=1e-10)
    assert got.sum() == pytest.approx(1, abs=1e-12)


def test_many_arms_that_are_alike_share():
    assert_allclose(all_chances(np.zeros(60), np.ones(60)), 1 / 60, rtol=1e-12)
    assert_allclose(all_chances(np.zeros(300), np.ones(300)), 1 / 300, rtol=0.02)


def test_bounds_of_one_value_share_what_they_win():
    low = np.array([1.0, 1.0, 0.0, 0.5])
    high = np.array([1.0, 1.0, 4.0, 0.5])
    assert_allclose(all_chances(low, high), [0.125, 0.125, 0.75, 0.0])
    assert all_chances(np.ones(4), np.ones(4)).tolist() == [0.25] * 4


def test_events_have_arms_of_their_own():
    low, high = np.array([0.0, 0.0, 5.0, 1.0, 0.0]), np.array([1.0, 2.0, 6.0, 2.0, 4.0])
    out = np.empty(3)
    events, places = np.array([1, 0, 0]), np.array([2, 1, 0])
    chances(low, high, np.array([0, 2, 5]), events, places, out)
    assert_allclose(out, [0.0, 0.75, 0.25])


def test_the_highest_bound_is_played_with_the_widths_of_its_normals():
    rng = np.random.default_rng(1)
    for _ in range(50):
        mean, within, shared = rng.standard_normal(5), *rng.exponential(size=(2, 5))
        normals = rng.standard_normal(9)
        widths = 1.5 + 0.3 * erf(normals[2:7] / np.sqrt(2))
        bounds = mean + widths * np.sqrt(within + shared)
        assert highest(mean, within, shared, normals, 2, 1.5, 0.3) == bounds.argmax()


def test_ties_are_broken_by_the_last_normal():
    mean, none = np.array([0.0, 2.0, 2.0, 1.0, 2.0]), np.zeros(5)
    rng, counts = np.random.default_rng(2), np.zeros(5)
    for _ in range(3000):
        counts[highest(mean, none, none, rng.standard_normal(6), 0, 1.0, 0.5)] += 1
    assert counts[[0, 3]].sum() == 0
    assert (abs(counts[[1, 2, 4]] - 1000) < 6 * np.sqrt(3000 * 2 / 9)).all()
