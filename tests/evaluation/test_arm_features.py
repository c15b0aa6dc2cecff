"""Features of a log's arms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hierbandits import TaskSums
from hierbandits.evaluation.arm_features import feature_table, with_features


def test_sums_of_arms_become_sums_of_their_features():
    rng = np.random.default_rng(0)
    table, tasks, arms = rng.normal(size=(4, 3)), rng.integers(0, 5, 60), rng.integers(0, 4, 60)
    rewards = rng.normal(size=60)
    armed, linear = TaskSums.zeros(5, 4, armed=True), TaskSums.zeros(5, 3)
    armed.add(tasks, arms, rewards)
    linear.add(tasks, table[arms], rewards)
    turned = with_features(armed, table)
    for part in ("xx", "xy", "yy", "n"):
        assert_allclose(getattr(turned, part), getattr(linear, part), rtol=1e-12, atol=1e-12)


def test_features_are_in_the_order_of_the_arms():
    given = {"b": [3.0, 4.0], "a": [1.0, 2.0], "other": [0.0, 0.0]}
    assert feature_table(given, ("a", "b")).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert feature_table(None, ("a", "b")) is None
    with pytest.raises(ValueError, match="every arm of the log, got none for 'c'"):
        feature_table(given, ("a", "c"))
