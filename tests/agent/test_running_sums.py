"""Sums of an agent's tasks: the same whether events come one by one or many at once."""

import numpy as np
import pytest

from hierbandits import TaskSums
from hierbandits.agent.running_sums import RunningSums


@pytest.mark.parametrize("armed", [True, False])
def test_events_one_by_one_or_many_at_once_give_the_same_sums(armed):
    rng, number = np.random.default_rng(0), 300
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
    one, other = single.total(7).state(), mixed.total(7).state()
    for name, values in right.state().items():
        np.testing.assert_array_equal(one[name], other[name])  # to the bit
        np.testing.assert_allclose(one[name], values, rtol=1e-12, atol=1e-12)


def test_rows_are_revised_removed_and_widened():
    sums = RunningSums(2, armed=True)
    for row, arm, reward in ((0, 0, 1.0), (1, 1, 2.0), (2, 0, 3.0), (2, 1, 4.0)):
        sums.add(row, arm, reward)
    sums.revise(2, 1, 4.0, 5.0)
    before = sums.total(3)
    put_back = sums.keep(np.array([2, 0]))
    sums.revise(2, 0, 3.0, 9.0)
    sums.revise(0, 0, 1.0, 1e9)
    sums.state(80)  # rows move
    put_back()
    for name, values in sums.total(3).state().items():
        np.testing.assert_array_equal(values, before.state()[name])
    assert sums.count() == 4
    sums = sums.without(1).without(5)  # a task without rewards has no row yet
    sums = sums.with_arm()
    sums.add(1, 2, 0.5)
    total = sums.total(3)
    assert total.xx.tolist() == [[1, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert total.xy.tolist() == [[1, 0, 0], [3, 5, 0.5], [0, 0, 0]]
    assert total.yy.tolist() == [1, 34.25, 0]
    assert total.n.tolist() == [1, 3, 0]
    more = sums.with_past(np.array([2]), total.rows(np.array([0])))
    assert more.total(3).n.tolist() == [1, 3, 1]
    assert sums.total(3).n.tolist() == [1, 3, 0]


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("typo", [1e6, -1e9])
@pytest.mark.parametrize("place", [0, 20, 39])
def test_a_reward_that_was_far_too_large_leaves_no_trace(armed, typo, place):
    rng = np.random.default_rng(2)
    features = rng.integers(3, size=40) if armed else rng.normal(size=(40, 3))
    rows, rewards = rng.integers(2, size=40), rng.normal(size=40)
    right, sums = TaskSums.zeros(2, 3, armed=armed), RunningSums(3, armed=armed)
    right.add(rows, features, rewards)
    given = rewards.copy()
    given[place] = typo
    sums.add_many(rows[:10], features[:10], given[:10])
    for row, x, y in zip(rows[10:].tolist(), features[10:], given[10:].tolist(), strict=True):
        sums.add(row, int(x) if armed else x, y)
    saved = RunningSums(3, armed=armed)
    saved.restore(sums.state(2), 2)
    for each in (sums, saved):
        each.revise(int(rows[place]), features[place], typo, float(rewards[place]))
        for name, values in each.total(2).state().items():
            np.testing.assert_allclose(values, right.state()[name], rtol=1e-12, atol=1e-12)
        assert each.mean_square() == pytest.approx((rewards**2).mean(), rel=1e-12)


def test_lost_digits_move_with_their_task():
    sums = RunningSums(2, armed=True)
    for row, arm, reward in ((0, 0, 1.0), (1, 1, 1e9), (1, 1, 0.3), (1, 0, 0.7)):
        sums.add(row, arm, reward)
    sums.add_many(np.array([1]), np.array([1]), np.array([0.1]))
    sums = sums.without(0).with_arm()
    sums.revise(0, 1, 1e9, 0.2)
    total = sums.total(1)
    np.testing.assert_allclose(total.xy, [[0.7, 0.6, 0.0]], rtol=1e-14)
    np.testing.assert_allclose(total.yy, [0.09 + 0.49 + 0.01 + 0.04], rtol=1e-14)
