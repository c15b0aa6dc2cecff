"""Sums that grow while events come in."""

import numpy as np
import pytest
from support.adaptive import FORMS

from hierbandits import TaskSums
from hierbandits.beliefs import growing_sums
from hierbandits.beliefs.growing_sums import GrowingSums


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_no_event_is_lost_while_rows_move(armed, rows, monkeypatch):
    monkeypatch.setattr(growing_sums, "ROWS", rows)
    rng, right = np.random.default_rng(0), TaskSums.zeros(60, 2, armed=armed)
    sums, moving = GrowingSums(TaskSums.zeros(0, 2, armed=armed)), 0
    for tasks in range(1, 60):
        sums.make_room(tasks)
        for _ in range(2):
            task, reward = int(rng.integers(tasks)), float(rng.normal())
            x = int(rng.integers(2)) if armed else rng.normal(size=2)
            sums.add_one(task, x, reward)
            right.add_one(task, x, reward)
            moving += sums.is_moving
            np.testing.assert_array_equal(sums.n[:tasks], right.n[:tasks])
            some = rng.integers(0, tasks, 5)
            for name, values in right.rows(some).state().items():
                np.testing.assert_array_equal(sums.rows(some).state()[name], values)
    assert (moving > 30) == (rows < 10)
    found = sums.settled()
    assert not sums.is_moving
    for name, values in right.state().items():
        np.testing.assert_array_equal(found.state()[name][:59], values[:59])


def test_room_grows_by_half_and_stays_if_it_is_enough():
    sums = GrowingSums(TaskSums.zeros(10, 1))
    first = sums.settled()
    sums.make_room(10)
    assert sums.settled() is first
    sums.make_room(11)
    assert sums.is_moving
    assert len(sums.settled().n) == 15
