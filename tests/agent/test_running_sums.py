"""Sums of an agent's tasks: the same whether events wait or are added at once."""

import numpy as np
import pytest

from hierbandits import TaskSums
from hierbandits.agent.running_sums import WAITING, RunningSums


@pytest.mark.parametrize("armed", [True, False])
def test_events_one_by_one_or_many_at_once_give_the_same_sums(armed):
    rng, number = np.random.default_rng(0), WAITING + 300
    rows = rng.integers(7, size=number)
    features = rng.integers(3, size=number) if armed else rng.normal(size=(number, 3))
    rewards = rng.normal(size=number)
    right = TaskSums.zeros(7, 3, armed=armed)
    right.add(rows, features, rewards)
    single, mixed = RunningSums(3, armed=armed), RunningSums(3, armed=armed)
    for row, x, y in zip(rows.tolist(), features, rewards.tolist(), strict=True):
        single.add(row, int(x) if armed else x, y)
    for row, x, y in zip(rows[:5].tolist(), features[:5], rewards[:5].tolist(), strict=True):
        mixed.add(row, int(x) if armed else x, y)
    mixed.add_many(rows[5:], features[5:], rewards[5:])
    for sums in (single, mixed):
        for name, values in sums.total(7).state().items():
            np.testing.assert_array_equal(values, right.state()[name])  # to the bit


def test_rows_are_revised_removed_and_widened():
    sums = RunningSums(2, armed=True)
    for row, arm, reward in ((0, 0, 1.0), (1, 1, 2.0), (2, 0, 3.0), (2, 1, 4.0)):
        sums.add(row, arm, reward)
    sums.revise(2, 1, 4.0, 5.0)
    sums.remove(1)
    sums.remove(5)  # a task without rewards has no row yet
    sums.add_arm()
    sums.add(1, 2, 0.5)
    total = sums.total(3)
    assert total.xx.tolist() == [[1, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert total.xy.tolist() == [[1, 0, 0], [3, 5, 0.5], [0, 0, 0]]
    assert total.yy.tolist() == [1, 34.25, 0]
    assert total.n.tolist() == [1, 3, 0]
    sums.put(np.array([2]), total.rows(np.array([0])))
    assert sums.total(3).n.tolist() == [1, 3, 1]
