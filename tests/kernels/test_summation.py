"""Sums of a log, of vectors and of arms."""

import numpy as np
import pytest

from hierbandits.kernels.summation import add_arm, add_arms, add_rows, add_vector, add_vectors


def test_sums_by_both_forms_agree():
    rng = np.random.default_rng(1)
    tasks, arms, rewards = rng.integers(0, 3, 20), rng.integers(0, 2, 20), rng.standard_normal(20)
    shapes = ((3, 2, 2), (3, 2), (3,), (3,))
    full = [np.zeros(shape) for shape in shapes]
    add_vectors(tasks, np.eye(2)[arms], rewards, *full)
    counts = [np.zeros(shape) for shape in ((3, 2), *shapes[1:])]
    add_arms(tasks, arms, rewards, *counts)
    np.testing.assert_allclose(np.diagonal(full[0], axis1=1, axis2=2), counts[0])
    for one, other in zip(full[1:], counts[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)


def test_one_event_is_a_batch_of_one():
    x = np.array([2.0, -1.0])
    sums = [np.zeros(shape) for shape in ((3, 2, 2), (3, 2), (3,), (3,))]
    add_vector(1, x, 3.0, *sums)
    for found, right in zip(sums, (np.outer(x, x), 3.0 * x, 9.0, 1.0), strict=True):
        np.testing.assert_array_equal(found[1], right)
        assert not found[[0, 2]].any()
    counts = [np.zeros(shape) for shape in ((3, 2), (3, 2), (3,), (3,))]
    add_arm(2, 1, 3.0, *counts)
    for found, right in zip(counts, ([0.0, 1.0], [0.0, 3.0], 9.0, 1.0), strict=True):
        np.testing.assert_array_equal(found[2], right)
        assert not found[:2].any()


@pytest.mark.parametrize(
    ("nodes", "arms", "is_added"),
    [
        ([0, 1, 0], [1, 0, 1], True),
        ([0, 0], [1, 0], False),  # the last arm has no row,
        ([0, 1], [1, 1], False),  # or one that nobody sees yet,
        ([0, 2], [1, 0], False),  # or is of a node that came later
    ],
)
def test_rewards_are_added_to_their_rows_if_all_have_one(nodes, arms, is_added):
    row_of, size = np.array([-1, 1, 0, 2]), 2  # of arms 0 and 1 of nodes 0 and 1
    sums, told = np.ones((4, 5)), np.array([7])
    nodes, arms, number = np.array(nodes), np.array(arms), len(nodes)
    rewards, exposure, sites = np.full(number, 2.0), np.full(number, 3.0), np.ones((3, number))
    sites *= [[4.0], [5.0], [6.0]]
    added = add_rows(nodes, arms, 2, row_of, size, rewards, exposure, sites, sums, told, number)
    expected = np.ones((4, 5))
    if is_added:
        expected[0] += [2.0, 3.0, 4.0, 5.0, 6.0]
        expected[1] += [4.0, 6.0, 8.0, 10.0, 12.0]
    assert added is is_added
    np.testing.assert_array_equal(sums, expected)
    assert told[0] == (10 if is_added else 7)
