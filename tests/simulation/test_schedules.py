"""Each schedule keeps its promise of which tasks act when."""

import numpy as np
import pytest

from hierbandits.simulation.schedules import (
    IDLE,
    SCHEDULES,
    Arriving,
    Concurrent,
    Custom,
    Federated,
    History,
    MetaLearning,
    MultiTask,
    Sequential,
    checked_round,
)

RUNS, M, N = 4, 6, 5


def _rounds(schedule, runs=RUNS, m=M, n=N, seed=0):
    """All rounds, with the history kept as the simulator keeps it."""
    history = History(runs, m, n)
    rounds = []
    for tasks in schedule.rounds(np.random.default_rng(seed), history):
        rounds.append(tasks)
        run, place = np.nonzero(tasks != IDLE)
        np.add.at(history.counts, (run, tasks[run, place]), 1)
        history.rounds += 1
    return rounds, history


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_task_has_all_its_interactions(name):
    rounds, history = _rounds(SCHEDULES[name])
    assert (history.counts == N).all()
    assert all(tasks.shape[0] == RUNS for tasks in rounds)


def test_meta_learning_finishes_a_task_before_the_next():
    rounds, _ = _rounds(MetaLearning())
    assert [int(t[0, 0]) for t in rounds] == [task for task in range(M) for _ in range(N)]


def test_sequential_follows_its_order():
    rounds, _ = _rounds(Sequential((2, 0, 2, 1)), m=3, n=4)
    assert [int(t[0, 0]) for t in rounds[:8]] == [2, 0, 2, 1, 2, 0, 2, 1]
    assert all(t.shape == (RUNS, 1) for t in rounds)
    with pytest.raises(ValueError, match="order must hold tasks below 3"):
        _rounds(Sequential((3,)), m=3)


def test_multi_task_is_one_random_task():
    rounds, _ = _rounds(MultiTask(), runs=2000, m=3, n=2)
    assert len(rounds) == 6
    share = np.bincount(rounds[0][:, 0], minlength=3) / 2000
    assert np.abs(share - 1 / 3).max() < 6 * np.sqrt(2 / 9 / 2000)


def test_the_papers_batches_are_of_a_permutation_and_repeat_tasks():
    """At m = 10 and L = 5 about 70 % of batches hold a task twice."""
    rounds, history = _rounds(Concurrent(5), runs=200, m=10, n=200)
    assert len(rounds) == 400
    assert (history.counts == 200).all()
    repeats = np.mean([[len(set(batch)) < 5 for batch in tasks] for tasks in rounds])
    exact = 1 - np.prod([(2000 - 200 * i) / (2000 - i) for i in range(5)])
    assert abs(repeats - exact) < 0.01
    assert 0.69 < exact < 0.71


@pytest.mark.parametrize("size", [1, 2, 4, 5, 6])
def test_without_repeats_a_batch_holds_distinct_tasks(size):
    rounds, history = _rounds(Concurrent(size, repeats=False), runs=50)
    assert (history.counts == N).all()
    assert all(len(set(batch)) == len(batch) for tasks in rounds for batch in tasks)
    assert [t.shape[1] for t in rounds[:-1]] == [size] * (len(rounds) - 1)
    openings = np.bincount(rounds[0][:, 0], minlength=M)
    assert (openings > 0).sum() >= 5  # at random


def test_batches_must_fit_the_tasks():
    for size in (0, M + 1):
        with pytest.raises(ValueError, match="size must be from 1 to 6"):
            _rounds(Concurrent(size))


def test_federated_is_everyone_and_arriving_are_those_here():
    rounds, _ = _rounds(Federated())
    assert len(rounds) == N
    assert all((t == np.arange(M)).all() for t in rounds)
    rounds, _ = _rounds(Arriving(2), m=3, n=3)
    assert [t[0].tolist() for t in rounds] == [[0], [0], [0, 1], [1], [1, 2], [2], [2]]
    rounds, _ = _rounds(Arriving(9), m=2, n=2)
    assert [t[0].tolist() for t in rounds] == [[0], [0], [1], [1]]  # nobody here: no round
    with pytest.raises(ValueError, match="gap must be a whole number of at least 1"):
        _rounds(Arriving(0))


def test_a_custom_schedule_sees_the_history():
    def least_tried(rng, history):
        if history.rounds == 7:
            return None
        return history.counts.argmin(axis=1)[:, None]

    rounds, _ = _rounds(Custom(least_tried), m=3)
    assert [int(t[0, 0]) for t in rounds] == [0, 1, 2, 0, 1, 2, 0]
    for wrong in (
        np.zeros((RUNS, 0), int),
        np.zeros(RUNS, int),
        np.full((RUNS, 1), 99),
        np.zeros((RUNS, 1)),
        [[0]],
    ):
        with pytest.raises(ValueError, match="schedule must give tasks below 3, or IDLE"):
            checked_round(wrong, RUNS, 3)


def test_the_same_seed_gives_the_same_rounds():
    for schedule in SCHEDULES.values():
        one, other = _rounds(schedule, seed=1)[0], _rounds(schedule, seed=1)[0]
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
