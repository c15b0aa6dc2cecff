"""The bookkeeping of a simulated round."""

import numpy as np

from hierbandits.kernels.tally import add_up, unroll


def test_a_round_is_unrolled_run_by_run_and_interactions_are_counted():
    table = np.array([[2, 0, 2], [1, -1, 0]], np.intp)
    counts = np.array([[0, 0, 5], [1, 0, 0]], np.intp)
    run, task, interaction = np.empty((3, 6), np.intp)
    assert unroll(table, counts, run, task, interaction) == 5
    assert run[:5].tolist() == [0, 0, 0, 1, 1]
    assert task[:5].tolist() == [2, 0, 2, 1, 0]
    assert interaction[:5].tolist() == [5, 0, 6, 0, 1]
    assert counts.tolist() == [[1, 0, 7], [2, 1, 0]]


def test_values_are_added_to_their_task_and_run():
    by_task, by_run = np.ones((2, 2)), np.zeros(2)
    add_up(np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([2.0, 3.0, 4.0]), by_task, by_run)
    assert by_task.tolist() == [[1.0, 7.0], [4.0, 1.0]]
    assert by_run.tolist() == [6.0, 3.0]
