"""Sums of tasks, against numpy on the events themselves."""

import numpy as np
import pytest

from hierbandits import TaskSums

M, D = 4, 3


def _events(armed, size=50, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.integers(0, D, size) if armed else rng.standard_normal((size, D))
    return rng.integers(0, M, size), features, rng.standard_normal(size)


def _assert_equal(sums, others):
    for name in ("xx", "xy", "yy", "n"):
        np.testing.assert_allclose(getattr(sums, name), getattr(others, name), atol=1e-12)


@pytest.mark.parametrize("armed", [False, True])
def test_sums_are_those_of_the_events(armed):
    tasks, features, rewards = _events(armed)
    sums = TaskSums.zeros(M, D, armed=armed)
    sums.add(tasks[:20], features[:20], rewards[:20])
    sums.add(tasks[20:], features[20:], rewards[20:])
    for task in range(M):
        mine = tasks == task
        x = np.eye(D)[features[mine]] if armed else features[mine]
        y = rewards[mine]
        xx = x.T @ x
        np.testing.assert_allclose(sums.xx[task], np.diag(xx) if armed else xx, atol=1e-12)
        np.testing.assert_allclose(sums.xy[task], x.T @ y, atol=1e-12)
        np.testing.assert_allclose(sums.yy[task], y @ y)
        assert sums.n[task] == mine.sum()


@pytest.mark.parametrize("armed", [False, True])
def test_a_revised_reward_is_as_if_it_had_been_right(armed):
    tasks, features, rewards = _events(armed)
    sums, right = TaskSums.zeros(M, D, armed=armed), TaskSums.zeros(M, D, armed=armed)
    sums.add(tasks, features, rewards)
    changed = rewards.copy()
    changed[7] = -3.0
    right.add(tasks, features, changed)
    sums.revise(int(tasks[7]), features[7], rewards[7], -3.0)
    _assert_equal(sums, right)


@pytest.mark.parametrize("armed", [False, True])
def test_groups_rows_and_room(armed):
    tasks, features, rewards = _events(armed)
    sums = TaskSums.zeros(M, D, armed=armed)
    sums.add(tasks, features, rewards)
    group = np.array([1, 0, 1, 1])
    merged = TaskSums.zeros(2, D, armed=armed)
    merged.add(group[tasks], features, rewards)
    _assert_equal(sums._grouped(group, 2), merged)
    _assert_equal(sums + sums, TaskSums(2 * sums.xx, 2 * sums.xy, 2 * sums.yy, 2 * sums.n))
    assert sums.with_room(M, D) is sums
    larger = sums.with_room(M + 1, D)
    assert len(larger.n) == M + M // 2
    _assert_equal(larger.rows(np.arange(M)), sums)
    replaced = sums.with_room(M + 1, D)
    replaced._put(np.array([0, 3]), sums.rows(np.array([3, 0])))
    _assert_equal(replaced.rows(np.array([0, 3])), sums.rows(np.array([3, 0])))


def test_arms_move_to_other_places():
    tasks, features, rewards = _events(armed=True)
    sums = TaskSums.zeros(M, D, armed=True)
    sums.add(tasks, features, rewards)
    places = np.array([4, 0, 2])
    moved = TaskSums.zeros(M, 5, armed=True)
    moved.add(tasks, places[features], rewards)
    _assert_equal(sums.with_arms_at(places, 5), moved)
    with pytest.raises(ValueError, match="places must be one for each arm, got 2"):
        sums.with_arms_at(np.array([0, 1]), 5)


def test_bad_events_change_nothing():
    sums = TaskSums.zeros(M, D, armed=True)
    for arguments, message in (
        (([M], [0], [1.0]), "tasks must be in"),
        (([0], [D], [1.0]), "features must be in"),
        (([0, 1], [0], [1.0, 1.0]), "features must have one arm per task"),
        (([0], [0], [np.nan]), "rewards must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            sums.add(*arguments)
    assert not sums.n.any()
    with pytest.raises(ValueError, match="other must have xx of shape"):
        sums + TaskSums.zeros(M, D)


@pytest.mark.parametrize("name", ["xx", "xy", "yy", "n"])
def test_sums_that_are_not_finite_are_named(name):
    sums = TaskSums.zeros(M, D)
    sums.check_finite()
    getattr(sums, name)[-1] = np.inf
    with pytest.raises(ValueError, match=rf"sums\.{name} must be finite"):
        sums.check_finite()


@pytest.mark.parametrize("armed", [False, True])
def test_mean_squares_of_features_have_no_zeros(armed):
    tasks, features, rewards = _events(armed)
    features = np.where(features == 1, 2, features) if armed else features * [1.0, 0.0, 5.0]
    sums = TaskSums.zeros(M, D, armed=armed)
    sums.add(tasks, features, rewards)
    expected = np.bincount(features, minlength=D) if armed else (features**2).sum(0)
    expected = expected / len(tasks)
    expected[1] = expected.max()
    np.testing.assert_allclose(sums.feature_mean_squares(), expected, rtol=1e-12)


@pytest.mark.parametrize("armed", [False, True])
def test_sums_come_back_from_their_state(armed):
    sums = TaskSums.zeros(M, D, armed=armed)
    sums.add(*_events(armed))
    state = sums.state()
    _assert_equal(TaskSums.from_state(state, D, armed=armed), sums)
    for name in state:
        with pytest.raises(ValueError, match=f"{name} must have shape"):
            TaskSums.from_state(state | {name: np.zeros((M, 1, 1, 1))}, D, armed=armed)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (((2, 3, 4), (2, 3), (2,), (2,)), "sums.xx must have shape"),
        (((2, 4), (2, 3), (2,), (2,)), "sums.xx must have shape"),
        (((1, 3), (2, 3), (2,), (2,)), "sums.xx must have shape"),
        (((2, 3), (2, 3), (1,), (2,)), r"sums.yy must have shape \(2,\)"),
        (((2, 3), (2, 3), (2,), (2, 1)), r"sums.n must have shape \(2,\)"),
        (((2,), (2,), (2,), (2,)), "sums.xx must have shape"),
    ],
)
def test_sums_made_by_hand_fit_together(parts, message):
    """Kernels add to them without looking."""
    with pytest.raises(ValueError, match=message):
        TaskSums(*(np.zeros(shape) for shape in parts))


def test_sums_made_by_hand_are_as_kernels_take_them():
    given = [np.zeros((3, 2), np.float32), np.zeros((2, 3)).T, np.zeros(3, int), np.zeros(3)]
    given[3].flags.writeable = False
    sums = TaskSums(*given)
    sums.add([0, 2], [1, 0], [1.0, 2.0])
    assert sums.xx.tolist() == [[0, 1], [0, 0], [1, 0]]
    assert sums.n.tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match=r"sums\.xy must be numbers"):
        TaskSums(np.zeros((1, 2)), np.array([["a", "b"]]), np.zeros(1), np.zeros(1))
    for ask, message in (
        (lambda: sums.rows([3]), "tasks must be in"),
        (lambda: sums.revise(-1, 0, 1.0, 2.0), "task must be in"),
        (lambda: sums.revise(0, 2, 1.0, 2.0), "features must be in"),
        (lambda: sums.with_arms_at([0, 5], 3), "places must be in"),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
