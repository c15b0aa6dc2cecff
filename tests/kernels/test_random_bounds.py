"""Bounds that are uniform in intervals: who is highest, and how probable that was."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose
from scipy.stats import norm

from hierbandits.kernels.random_bounds import FARTHEST, bound_ends, chances, highest


def all_chances(ends):
    size = ends.shape[1]
    out, zero = np.empty(size), np.zeros(size, np.intp)
    chances(ends, np.array([0, size]), zero, np.arange(size), out)
    return out


def distribution(ends, arm, left):
    """The distribution function of an arm's bound just right of `left`, as a polynomial."""
    low, high = ends[:, arm]
    if left < low or left >= high:
        return Polynomial([0.0 if left < low else 1.0])
    return Polynomial([-low / (high - low), 1 / (high - low)])


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
    low = rng.standard_normal(int(rng.integers(1, 7)))
    ends = np.stack([low, low + rng.uniform(0.3, 2, low.size)])
    got = all_chances(ends)
    assert_allclose(got, by_polynomials(ends), atol=1e-8)
    assert got.sum() == pytest.approx(1, abs=1e-12)


def test_many_arms_that_are_alike_share():
    for size, error in ((60, 1e-9), (300, 0.02)):
        assert_allclose(all_chances(np.array([[0.0], [1.0]]) * np.ones(size)), 1 / size, rtol=error)


def test_bounds_of_one_value_share_what_they_win():
    ends = np.array([[1.0, 1.0, 0.0, 0.5], [1.0, 1.0, 4.0, 0.5]])
    assert_allclose(all_chances(ends), [0.125, 0.125, 0.75, 0.0])
    assert all_chances(np.ones((2, 4))).tolist() == [0.25] * 4


def test_events_have_arms_of_their_own():
    ends = np.array([[0.0, 0.0, 5.0, 1.0, 0.0], [1.0, 2.0, 6.0, 2.0, 4.0]])
    out = np.empty(3)
    chances(ends, np.array([0, 2, 5]), np.array([1, 0, 0]), np.array([2, 1, 0]), out)
    assert_allclose(out, [0.0, 0.75, 0.25])


def widths_of(std, width, growth):
    """The mean widths of the arms of one event."""
    ratio = np.minimum(std / std.min(), FARTHEST)
    return np.sqrt(width**2 + 2 * growth * np.log(ratio)) if growth else np.full(std.size, width)


@pytest.mark.parametrize(("width", "growth"), [(1.5, 0.25), (0.0, 0.4), (-1.0, 0.0)])
def test_bounds_are_wider_where_arms_are_less_known_than_another_of_their_event(width, growth):
    rng = np.random.default_rng(7)
    mean, std = rng.standard_normal(7), rng.exponential(size=7)
    std[1] = 1e-6  # more than FARTHEST from the others
    ends = bound_ends(mean, std, np.array([0, 4, 7]), width, growth, 0.3)
    for event in (slice(0, 4), slice(4, 7)):
        widths = widths_of(std[event], width, growth)
        expected = [mean[event] + (widths + step) * std[event] for step in (-0.3, 0.3)]
        assert_allclose(ends[:, event], expected)


def test_an_arm_that_is_fully_known_does_not_make_the_others_endless():
    ends = bound_ends(np.zeros(2), np.array([0.0, 1.0]), np.array([0, 2]), 1.0, 0.5, 0.0)
    assert_allclose(ends[0], [0.0, np.sqrt(1 + np.log(FARTHEST))])
    assert bound_ends(np.ones(2), np.zeros(2), np.array([0, 2]), 1.0, 0.5, 0.3).tolist() == [
        [1.0, 1.0],
        [1.0, 1.0],
    ]


def test_the_highest_bound_is_played_with_the_widths_of_its_normals():
    rng = np.random.default_rng(1)
    for _ in range(50):
        mean, within, shared = rng.standard_normal(5), *rng.exponential(size=(2, 5))
        normals, std = rng.standard_normal(9), np.sqrt(within + shared)
        widths = widths_of(std, 1.5, 0.6) + 0.3 * (2 * norm.cdf(normals[2:7]) - 1)
        bounds = mean + widths * std
        assert highest(mean, within, shared, normals, 2, 1.5, 0.6, 0.3) == bounds.argmax()


def test_ties_are_broken_by_the_last_normal():
    mean, none = np.array([0.0, 2.0, 2.0, 1.0, 2.0]), np.zeros(5)
    rng, counts = np.random.default_rng(2), np.zeros(5)
    for _ in range(3000):
        counts[highest(mean, none, none, rng.standard_normal(6), 0, 1.0, 0.2, 0.5)] += 1
    assert counts[[0, 3]].sum() == 0
    assert (abs(counts[[1, 2, 4]] - 1000) < 6 * np.sqrt(3000 * 2 / 9)).all()
