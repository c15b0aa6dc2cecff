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
    blocks, tallies = np.zeros((2, 3, 1)), np.zeros((2, 3))
    add = add_arms_exactly if armed else add_vectors_exactly
    add(blocks, tallies, tasks, features, rewards)
    (xx, xy, lost_xy), (n, yy, lost_yy) = blocks[1, :, 0], tallies[1]
    weights = None if armed else features[:, 0]
    assert xy + lost_xy == pytest.approx(_exactly(rewards, weights), rel=1e-15, abs=0)
    assert yy + lost_yy == pytest.approx(_exactly(rewards * rewards), rel=1e-15)
    assert n == rewards.size
    assert xx == pytest.approx(rewards.size if armed else (features**2).sum(), rel=1e-12)
    assert not blocks[0].any()
    assert not tallies[0].any()


def test_the_rows_of_a_block_are_the_features_products_and_their_rewards():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5, 3)), rng.normal(size=5)
    blocks, tallies = np.zeros((1, 5, 3)), np.zeros((1, 3))
    for features, reward in zip(x, y, strict=True):
        add_vector_exactly(blocks, tallies, 0, features, reward)
    np.testing.assert_allclose(blocks[0, :4], np.vstack([x.T @ x, x.T @ y]), rtol=1e-12)
    np.testing.assert_allclose(tallies[0, :2], [5, y @ y])
    blocks, tallies = np.zeros((1, 3, 2)), np.zeros((1, 3))
    for arm, reward in zip([1, 0, 1], y[:3].tolist(), strict=True):
        add_arm_exactly(blocks, tallies, 0, arm, reward)
    np.testing.assert_allclose(blocks[0, :2], [[1, 2], [y[1], y[0] + y[2]]])
    np.testing.assert_allclose(tallies[0, :2], [3, y[:3] @ y[:3]])


def test_a_row_or_a_number_is_added():
    sums, lost = np.array([[1.0, 2.0]]), np.zeros((1, 2))
    add_exactly(sums, lost, 0, np.array([1e20, 1.0]))
    add_exactly(sums, lost, (0, 0), -1e20)
    assert (sums + lost).tolist() == [[1.0, 3.0]]
