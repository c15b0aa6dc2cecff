"""Information-directed sampling against a search over all pairs of arms and a fine grid."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from support.information import mixture_of

from hierbandits import Arms
from hierbandits.kernels.information import pairs_armed, pairs_linear, row_armed, row_linear


def costs_of(values):
    """The shortfall and the insight of each arm, from draws of their values, (draws, K)."""
    best = values.argmax(axis=1)
    shortfall = (values.max(axis=1)[:, None] - values).mean(axis=0)
    insight = np.zeros(values.shape[1])
    for arm in range(values.shape[1]):
        given = values[best == arm]
        if len(given):
            insight += len(given) / len(values) * (given.mean(axis=0) - values.mean(axis=0)) ** 2
    return shortfall, insight


def ratio(shares, shortfall, insight):
    return (shares @ shortfall) ** 2 / (shares @ insight)


def least_ratio(shortfall, insight):
    """The least ratio of any pair of arms, by a fine grid of mixtures."""
    near = np.geomspace(1e-12, 0.5, 3000)
    share = np.concatenate([[0.0], near, 1 - near, [1.0]])[:, None, None]
    cost = share * shortfall + (1 - share) * shortfall[:, None]
    told = share * insight + (1 - share) * insight[:, None]
    return (cost**2)[told > 0] / told[told > 0]


@given(st.integers(0, 2**32 - 1))
def test_the_mixture_is_the_best_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    draws, size = int(rng.integers(2, 40)), int(rng.integers(2, 7))
    values = rng.standard_normal((draws, size)) * rng.exponential(size=size)
    values += rng.standard_normal(size)
    shares = mixture_of(values)
    assert shares.sum() == pytest.approx(1, abs=1e-12)
    assert (shares > 0).sum() <= 2
    shortfall, insight = costs_of(values)
    if shortfall.min() == 0:  # one arm is best in every draw
        assert shares[shortfall.argmin()] == 1
        return
    own, grid = ratio(shares, shortfall, insight), least_ratio(shortfall, insight).min()
    assert own <= grid * (1 + 1e-9)
    assert own >= grid * (1 - 1e-4)  # no grid finds the least itself


def test_an_arm_that_is_not_eligible_has_no_say():
    values = np.random.default_rng(3).standard_normal((20, 4))
    values[:, 1] += 9.0
    eligible = np.array([True, False, True, True])
    shares = mixture_of(values, eligible)
    assert shares[1] == 0
    assert_allclose(shares[eligible], mixture_of(values[:, eligible]))


def test_arms_that_are_alike_are_sure():
    assert mixture_of(np.ones((5, 3))).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("armed", [False, True])
def test_a_round_plays_the_mixtures_of_its_events(armed):
    """Events with arms of their own, numbered from a base, draw after draw."""
    rng = np.random.default_rng(5)
    draws, dim, sizes = 30, 6, np.array([3, 1, 4])
    table = np.arange(dim) if armed else rng.standard_normal((7, dim))
    rows = np.concatenate([rng.permutation(len(table))[:size] for size in sizes])
    arms = Arms._raw_of_rows(table, rows, sizes)
    arms._own_base[:] = 1
    theta, means = rng.standard_normal((100, dim)), rng.standard_normal((3, dim))
    slots = rng.integers(0, 100, (draws, 3))
    pair, share = np.empty((2, 3), np.intp), np.empty(3)
    kernel = pairs_armed if armed else pairs_linear
    kernel(means, theta, slots.ravel(), arms._raw_arrays, pair, share)
    features = np.eye(dim) if armed else table
    for e in range(3):
        own = arms.rows_of(e)
        drawn = theta[slots[:, e]]
        expected = mixture_of(np.concatenate([drawn, 2 * means[e] - drawn]) @ features[own].T)
        got = np.zeros(own.size)
        for number, part in zip(pair[:, e], (share[e], 1 - share[e]), strict=True):
            got[own.tolist().index(number + 1)] += part
        assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("armed", [False, True])
def test_one_event_plays_an_arm_of_its_mixture(armed):
    rng = np.random.default_rng(47)
    theta, table = rng.standard_normal((9, 4)), rng.standard_normal((6, 4))
    features = np.eye(4)[[2, 0, 3]] if armed else table
    drawn = np.concatenate([theta[1:], 2 * theta[0] - theta[1:]])
    shares = mixture_of(drawn @ features.T)
    kernel, given = (row_armed, np.array([2, 0, 3])) if armed else (row_linear, table)
    normals = NormalDist().inv_cdf
    played = [kernel(theta, given, normals((i + 0.5) / 1000)) for i in range(1000)]
    assert (shares > 0).sum() == 2
    assert_allclose(np.bincount(played, minlength=len(shares)) / 1000, shares, atol=1e-3)


def test_the_best_mixture_of_very_many_arms_is_found():
    rng = np.random.default_rng(9)
    values = rng.standard_normal((12, 500)) * rng.exponential(size=500)
    shares = mixture_of(values)
    shortfall, insight = costs_of(values)
    played = np.flatnonzero(shares)
    others = rng.permutation(500)[:60]  # a grid over all pairs of 500 is too many
    some = np.union1d(played, others)
    grid = least_ratio(shortfall[some], insight[some]).min()
    assert ratio(shares, shortfall, insight) <= grid * (1 + 1e-9)
