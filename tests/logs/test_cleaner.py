"""Rows that are left out, and the numbers of those that remain."""

import numpy as np
import polars as pl
import pytest

import hierbandits as hb
from hierbandits.logs.cleaner import Cleaner

COLUMNS = hb.Columns(task="s", arm="k", reward="y")
TEXT = pl.DataFrame(
    {
        "s": ["a", " a", None, "b", "b"],
        "k": ["x", "", "x", "y", "  "],
        "y": ["1", "2", "3", "NaN", "NA"],
    }
)


def _clean(reading, *, is_text=True, repeated=(), start=100):
    cleaner = Cleaner(COLUMNS, reading, is_text, np.array(repeated, np.intp))
    frame, rows = cleaner.clean(TEXT, start)
    return frame, rows.tolist(), cleaner.left_out


def test_nothing_is_left_out_by_default_and_an_empty_cell_of_a_text_is_missing():
    frame, rows, gone = _clean(hb.Reading())
    assert rows == [100, 101, 102, 103, 104]
    assert frame["k"].to_list() == ["x", None, "x", "y", "  "]
    assert gone.total == 0
    frame, _, _ = _clean(hb.Reading(), is_text=False)
    assert frame["k"].to_list()[1] == ""  # a name, in a frame


def test_rows_that_lack_a_cell_are_left_out_and_counted_once():
    _, rows, gone = _clean(hb.Reading(drop_missing=True))
    assert rows == [100, 104]
    assert gone.missing == {"s": 1, "k": 1, "y": 1}
    frame, rows, gone = _clean(hb.Reading(drop_missing=True, strip=True, missing=["NA"]))
    assert (rows, gone.total) == ([100], 4)
    assert frame.rows() == [("a", "x", "1")]
    assert gone.missing == {"s": 1, "k": 2, "y": 1}  # row 104 lacks its arm before its reward


def test_repeated_rows_are_left_out_by_number():
    _, rows, gone = _clean(hb.Reading(), repeated=[3, 101, 104, 105])
    assert (rows, gone.repeated) == ([100, 102, 103], 2)


@pytest.mark.parametrize("batch_rows", [2, 100])
def test_errors_name_rows_of_the_file_where_others_are_left_out(batch_rows):
    frame = pl.DataFrame(
        {"s": ["a", None, "b", None, "a"], "k": ["x"] * 5, "y": [1.0, 2.0, 3.0, 4.0, np.inf]}
    )
    log = hb.Log.read(frame, COLUMNS, reading=hb.Reading(drop_missing=True), batch_rows=batch_rows)
    with pytest.raises(ValueError, match=r"reward must be finite .* at row 4$"):
        log.sums()
    sums = hb.Log.read(
        frame.head(4), COLUMNS, reading=hb.Reading(drop_missing=True), batch_rows=batch_rows
    )
    assert sums.sums().num_rows == 2
    seen = [(b.rows.tolist(), b.numbers.tolist(), b.left_out.total) for b in sums.batches()]
    assert [row for rows, _, _ in seen for row in rows] == [0, 2]
    assert [number for _, numbers, _ in seen for number in numbers] == [0, 1]
    assert seen[-1][2] == 2


def test_a_log_of_which_nothing_is_left_is_refused():
    frame = pl.DataFrame({"s": [None, "a"], "k": ["x", "x"], "y": [1.0, None]})
    log = hb.Log.read(frame, COLUMNS, reading=hb.Reading(drop_missing=True))
    message = "got none but those left out: 1 without 's', 1 without 'y'"
    with pytest.raises(ValueError, match=message):
        log.sums()


def test_lists_that_lack_an_entry_are_missing_too():
    frame = pl.DataFrame(
        {"s": ["a"] * 4, "x": [[1.0, 2.0], [1.0, None], [np.nan, 1.0], None], "y": [1.0] * 4}
    )
    columns = hb.Columns(task="s", features="x", reward="y")
    log = hb.Log.read(frame, columns, reading=hb.Reading(drop_missing=True))
    assert log.sums().num_rows == 1
