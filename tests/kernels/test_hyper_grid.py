"""Placing a grid: sums by steps, and ranges that hold the posterior."""

import numpy as np
from scipy.special import gammaln

from hierbandits.kernels.hyper_grid import BETA, GAMMA, groups_of, place_grid, sort_both, steps_of


def test_keys_are_sorted_with_their_others():
    rng = np.random.default_rng(0)
    for size in (0, 1, 2, 50, 1000):
        keys = rng.integers(0, 20, size).astype(float)
        others = 1000 * keys + rng.random(size)
        sort_both(keys, others)
        assert (np.diff(keys) >= 0).all()
        np.testing.assert_array_equal(others // 1000, keys)


def test_steps_have_the_sum_of_all_values():
    values = np.array([3.0, 0.0, 7.0, 3.0, 1.0])
    start, length, number = steps_of(values)
    assert start.tolist() == [0.0, 1.0, 3.0]
    assert length.tolist() == [1.0, 2.0, 4.0]
    assert number.tolist() == [4.0, 3.0, 1.0]
    total = sum(n * (gammaln(0.7 + s + k) - gammaln(0.7 + s)) for s, k, n in steps_of(values).T)
    np.testing.assert_allclose(total, (gammaln(0.7 + values) - gammaln(0.7)).sum())


def test_groups_add_up_the_tasks_of_an_exposure():
    groups = groups_of(np.array([1.0, 2.0, 5.0]), np.array([4.0, 1.0, 4.0]))
    assert groups.tolist() == [[1.0, 4.0], [1.0, 2.0], [2.0, 6.0]]


def test_ranges_are_found_from_far_away():
    """Both ways in which a range is wrong at first: too wide, and elsewhere."""
    rng, n, depth = np.random.default_rng(1), 24, 16.0
    over = np.full(30, 200.0)
    assumed = np.array([0.0, 2.5, np.log(0.5), np.log(3.0)])
    for kind, sums in ((BETA, rng.binomial(200, 0.02, 30)), (GAMMA, rng.poisson(4.0, 30))):
        found = []
        for low, step in ((-18.0, 1.5), (3.0, 0.01)):
            ranges = np.tile([low, step], (n + 1, 1))
            ranges[n] = [-7.0, 0.5]
            logs = np.empty(n * n)
            place_grid(kind, sums.astype(float), over, assumed, depth, ranges, logs)
            columns = logs.reshape(n, n)
            best = columns[columns.max(axis=1).argmax()]
            assert 0 < best.argmax() < n - 1
            assert max(best[0], best[-1]) < best.max() - depth
            found.append(np.logaddexp.reduce(logs))
        np.testing.assert_allclose(*found, atol=1e-3)
