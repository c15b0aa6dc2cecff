"""Sums that keep what rounding takes from them, against sums of fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierbandits.kernels.exact_addition import (
    add_arm_exactly,
    add_arms_exactly,
    add_exactly,
    add_vector_exactly,
    add_vectors_exactly,
)


def _exactly(values, weights=None):
    weights = [1.0] * len(values) if weights is None else weights
    products = [float(x * y) for x, y in zip(weights, values, strict=True)]
    return float(sum(map(Fraction, products)))


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_nothing_is_lost_between_numbers_of_all_sizes(seed, armed):
    rng = np.random.default_rng(seed)
    rewards = rng.normal(size=30) * 10.0 ** rng.integers(-3, 9, 30)
    rewards = np.append(rewards, -rewards[:15])  # much of it cancels
    tasks = np.ones(rewards.size, np.intp)
    features = np.zeros(rewards.size, np.intp) if armed else rng.normal(size=(rewards.size, 1))
    sums = np.zeros((2, 6))
    add = add_arms_exactly if armed else add_vectors_exactly
    add(sums, tasks, features, rewards)
    xx, xy, lost_xy, n, yy, lost_yy = sums[1]
    weights = None if armed else features[:, 0]
    assert xy + lost_xy == pytest.approx(_exactly(rewards, weights), rel=1e-15, abs=0)
    assert yy + lost_yy == pytest.approx(_exactly(rewards * rewards), rel=1e-15)
    assert n == rewards.size
    assert xx == pytest.approx(rewards.size if armed else (features**2).sum(), rel=1e-12)
    assert not sums[0].any()


def test_a_row_holds_products_then_what_they_lost_then_the_count():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5, 3)), rng.normal(size=5)
    sums = np.zeros((1, 18))
    for features, reward in zip(x, y, strict=True):
        add_vector_exactly(sums, 0, features, reward)
    right = [*(x.T @ x).ravel(), *(x.T @ y), 0, 0, 0, 5, y @ y, 0]
    np.testing.assert_allclose(sums[0], right, rtol=1e-12, atol=1e-14)
    sums = np.zeros((1, 9))
    for arm, reward in zip([1, 0, 1], y[:3].tolist(), strict=True):
        add_arm_exactly(sums, 0, arm, reward)
    right = [1, 2, y[1], y[0] + y[2], 0, 0, 3, y[:3] @ y[:3], 0]
    np.testing.assert_allclose(sums[0], right, rtol=1e-12, atol=1e-14)


def test_a_row_or_a_number_is_added():
    sums, lost = np.array([[1.0, 2.0]]), np.zeros((1, 2))
    add_exactly(sums, lost, 0, np.array([1e20, 1.0]))
    add_exactly(sums, lost, (0, 0), -1e20)
    assert (sums + lost).tolist() == [[1.0, 3.0]]
