"""Sums that grow while events come in."""

import numpy as np
import pytest
from support.adaptive import FORMS

from hierbandits import TaskSums
from hierbandits.beliefs import growing_rows
from hierbandits.beliefs.growing_sums import GrowingSums


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("rows", [1, 1000])
def test_no_event_is_lost_while_rows_move(armed, rows, monkeypatch):
    monkeypatch.setattr(growing_rows, "ROWS", rows)
    rng, right = np.random.default_rng(0), TaskSums.zeros(60, 2, armed=armed)
    sums = GrowingSums(TaskSums.zeros(0, 2, armed=armed))
    for tasks in range(1, 60):
        sums.make_room(tasks)
        for _ in range(2):
            task, reward = rng.integers(tasks, size=1), rng.normal(size=1)
            x = rng.integers(2, size=1) if armed else rng.normal(size=(1, 2))
            sums.add_one(int(task[0]), int(x[0]) if armed else x[0], float(reward[0]))
            right.add(task, x, reward)
            np.testing.assert_array_equal(sums.n[:tasks], right.n[:tasks])
            some = rng.integers(0, tasks, 5)
            for name, values in right.rows(some).state().items():
                np.testing.assert_array_equal(sums.rows(some).state()[name], values)
    for name, values in right.state().items():
        np.testing.assert_array_equal(sums.settled().state()[name][:59], values[:59])
