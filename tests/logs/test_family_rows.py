"""Rewards of a log for a family: sums of arms, rows, and rows that are alike."""

import numpy as np

from hierbandits.logs.family_rows import merged
from hierbandits.models import FAMILIES


def test_rows_of_one_task_and_features_are_one():
    x = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0], [1.0, 2.0]])
    sites = merged(
        FAMILIES["poisson"](), np.array([0, 0, 0, 1]), x, np.array([2.0, 1.0, 5.0, 7.0]),
        num_tasks=2, dim=2,
    )  # fmt: skip
    order = np.lexsort((sites.features[:, 1], sites.tasks))
    np.testing.assert_array_equal(sites.tasks[order], [0, 0, 1])
    np.testing.assert_array_equal(sites.rewards[order], [7.0, 1.0, 7.0])
    np.testing.assert_array_equal(sites.exposure[order], [2.0, 1.0, 1.0])


def test_rewards_that_do_not_add_up_stay_rows():
    x = np.array([[1.0], [1.0]])
    family = FAMILIES["gaussian"]()
    sites = merged(family, np.zeros(2, np.intp), x, np.array([2.0, 3.0]), num_tasks=1, dim=1)
    assert sites.tasks.size == (1 if family.ADDS_UP else 2)
