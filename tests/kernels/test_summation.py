"""Sums of a log, of vectors and of arms."""

import numpy as np

from hierbandits.kernels.summation import add_arm, add_arms, add_vector, add_vectors


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
