"""The best arms of events, with ties broken at random."""

import numpy as np
import pytest

from hierbandits.beliefs.best_arms import best_row_under, best_scored, best_under
from hierbandits.policies.arms import Arms


@pytest.mark.parametrize("armed", [False, True])
def test_random_numbers_are_drawn_for_ties_alone(armed):
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    arms = Arms._raw_shared(np.arange(3) if armed else np.eye(3), 2)._raw_arrays
    theta = np.array([[1.0, 3.0, 2.0], [0.0, -1.0, 4.0]])
    assert best_under(theta, np.array([0, 1]), arms, rng).tolist() == [1, 2]
    assert best_under(theta, np.array([1, 0, 0, 0]), arms, rng).tolist() == [2, 1, 1, 1]
    assert best_scored(theta.ravel(), arms, rng).tolist() == [1, 2]
    assert rng.random() == other.random()
    counts = np.zeros((2, 3))
    tied = np.array([[5.0, 5.0, 0.0], [1.0, 2.0, 2.0]])
    for _ in range(500):
        counts[[0, 1], best_under(tied, np.array([0, 1]), arms, rng)] += 1
        counts[[0, 1], best_scored(tied.ravel(), arms, rng)] += 1
    assert counts[0, 2] == counts[1, 0] == 0
    assert abs(counts[0, 0] - 500) < 6 * np.sqrt(250)
    assert abs(counts[1, 1] - 500) < 6 * np.sqrt(250)


def test_the_best_row_of_a_table():
    rng = np.random.default_rng(1)
    theta, table = rng.standard_normal((4, 3)), rng.standard_normal((7, 3))
    for slot in range(4):
        assert best_row_under(theta, np.array([slot]), table, rng) == (table @ theta[slot]).argmax()
        arms = np.array([2, 0])
        assert best_row_under(theta, np.array([slot]), arms, rng) == theta[slot][arms].argmax()
