"""Rows of tasks: read with their generation at one moment, locked in order, folded."""

import numpy as np
import pytest
from support.shared_stores import ARMED, SETTINGS, act, books

from hierbandits.service.shared_tasks import SharedTasks, tasks_now


@pytest.fixture
def live(store_url):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        yield book.turns("shop").live


def test_sums_come_back_with_all_their_digits():
    tasks = SharedTasks(1, ARMED)
    sums = tasks.sums([None, None])
    for value in (1e12, 0.1, 0.2):
        sums.learn(1, 2, None, value)
    sums.learn(1, 2, 1e12, 0.3)
    total = tasks.sums(sums.row(place) for place in range(2)).known()
    assert total.n.tolist() == [0, 3]
    assert total.xx[1].tolist() == [0, 0, 3]
    np.testing.assert_allclose(total.xy[1, 2], 0.6, rtol=1e-15)


def test_tasks_are_dirty_until_all_they_know_is_folded(live):
    act(live, np.random.default_rng(0), rounds=3)
    tasks = live.tasks
    with live._links.transaction() as db:
        rows = tasks.dirty(db, 100)
        assert len(rows) > 2
        assert all(folded is None for _, _, folded, _ in rows)
        assert rows == sorted(rows)
        assert len(tasks.dirty(db, 2)) == 2
        changed = [(key, sums, folded, revision - 1) for key, sums, folded, revision in rows[:1]]
        tasks.fold(db, changed + rows[1:])  # the first one has learned since
        (left,) = tasks.dirty(db, 100)
        assert left[0] == rows[0][0]
        assert left[2] == rows[0][1]
        folded = [row for some in tasks.all_folded(db) for row in some]
        assert {key: row for key, row in folded if row} == {key: row for key, row, *_ in rows}
    read, policy = live._links.read, live.record.id
    now = tasks_now(read, policy, [rows[1][0], b"none"], live.generation, 1)
    assert now.generation is live.generation
    assert now.tasks == {rows[1][0]: (rows[1][1], rows[1][1])}
    assert (now.changed, now.ramp) == (None, None)  # no change after the first one
    newer = tasks_now(read, policy, [], None)
    assert (newer.generation.number, newer.changed) == (1, 1)
    assert newer.generation is not now.generation
    assert tasks_now(read, 5, [], None) == (None, {}, None, None)
