"""Rows that move to larger arrays by and by."""

import numpy as np
import pytest

from hierbandits.beliefs import growing_rows
from hierbandits.beliefs.growing_rows import GrowingRows


@pytest.mark.parametrize("each", [1, 3, 1000])
def test_no_row_is_lost_on_the_way(each, monkeypatch):
    monkeypatch.setattr(growing_rows, "ROWS", each)
    rng, right, moving = np.random.default_rng(0), np.zeros((100, 2)), 0
    rows = GrowingRows(np.zeros((0, 2)), np.zeros(0))
    for size in range(1, 100):
        rows.make_room(size)
        for row in rng.integers(0, size, 3):
            two, one = rows.place(int(row))
            two[row] += row + 1.0
            one[row] -= 1.0
            right[row] += row + 1.0
            moving += rows.is_moving
        some = rng.integers(0, size, 4)
        two, one = rows.rows(some)
        np.testing.assert_array_equal(two, right[some])
        np.testing.assert_array_equal(one, -right[some, 0] / (some + 1.0))
    assert (moving > 30) == (each < 10)
    two, _ = rows.settled()
    assert not rows.is_moving
    np.testing.assert_array_equal(two[:99], right[:99])
    assert not two[99:].any()


def test_room_grows_by_half_and_stays_if_it_is_enough():
    rows = GrowingRows(np.ones((10, 1)))
    (first,) = rows.settled()
    rows.make_room(10)
    assert rows.settled()[0] is first
    rows.make_room(11)
    assert rows.is_moving
    assert (len(rows), rows.settled()[0].sum()) == (15, 10.0)
    rows.make_room(100)
    assert len(rows) == 100
