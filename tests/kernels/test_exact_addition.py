"""Sums that keep what rounding takes from them, against sums of fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierbandits.kernels.exact_addition import add_arms_exactly, add_exactly, add_vectors_exactly


def _exactly(values, weights=None):
    weights = [1.0] * len(values) if weights is None else weights
    products = [float(x * y) for x, y in zip(weights, values, strict=True)]
    return float(sum(map(Fraction, products)))


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_nothing_is_lost_between_numbers_of_all_sizes(seed, armed):
    rng = np.random.default_rng(seed)
    rewards = rng.normal(size=30) * 10.0 ** rng.integers(-3, 9, 30)
    rewards = np.append(rewards, -rewards[:15])  # much of it cancels
    tasks = np.zeros(rewards.size, np.intp)
    features = np.zeros(rewards.size, np.intp) if armed else rng.normal(size=(rewards.size, 1))
    xx = np.zeros((1, 1) if armed else (1, 1, 1))
    xy, yy, n, lost_xy, lost_yy = np.zeros((1, 1)), *np.zeros((2, 1)), np.zeros((1, 1)), np.zeros(1)
    add = add_arms_exactly if armed else add_vectors_exactly
    add(tasks, features, rewards, xx, xy, yy, n, lost_xy, lost_yy)
    weights = None if armed else features[:, 0]
    assert xy[0, 0] + lost_xy[0, 0] == pytest.approx(_exactly(rewards, weights), rel=1e-15, abs=0)
    assert yy[0] + lost_yy[0] == pytest.approx(_exactly(rewards * rewards), rel=1e-15)
    assert n[0] == rewards.size
    assert xx.sum() == pytest.approx(rewards.size if armed else (features**2).sum(), rel=1e-12)


def test_a_row_or_a_number_is_added():
    sums, lost = np.array([[1.0, 2.0]]), np.zeros((1, 2))
    add_exactly(sums, lost, 0, np.array([1e20, 1.0]))
    add_exactly(sums, lost, (0, 0), -1e20)
    assert (sums + lost).tolist() == [[1.0, 3.0]]
