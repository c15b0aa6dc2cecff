"""Decision ids that several rows have."""

import numpy as np
import polars as pl
import pytest

import hierbandits as hb
from hierbandits.logs.repeats import Repeat, Repeats

COLUMNS = hb.Columns(task="s", arm="k", reward="y", decision="id")


def _frame():
    return pl.DataFrame(
        {
            "s": ["a", "b", "a", "b", "a", "c"],
            "k": ["x"] * 6,
            "y": [1.0, 2.0, 1.0, 2.5, 1.0, 9.0],
            "id": ["1", "2", "1", "2", "1", "3"],
            "note": ["these", "are", "not", "read", "at", "all"],
        }
    )


@pytest.mark.parametrize("batch_rows", [1, 4, 100])
def test_copies_and_contradictions_are_told_apart(batch_rows):
    log = hb.Log.read(_frame(), COLUMNS, batch_rows=batch_rows)
    repeats = Repeats.of(log.clean_frames, "id")
    assert (repeats.copies.tolist(), repeats.conflicts.tolist()) == ([2, 4], [3])
    assert set(repeats.shown) == {
        Repeat(2, 0, "1", True), Repeat(4, 0, "1", True), Repeat(3, 1, "2", False)
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"every row \(row 0 has it too\), got '1' .* at row 2$"):
        log.sums()
    reading = hb.Reading(drop_repeated=True)
    message = r"rows that differ \(row 1 has it too, and other cells\), got '2' .* at row 3$"
    with pytest.raises(ValueError, match=message):
        hb.Log.read(_frame(), COLUMNS, reading=reading, batch_rows=batch_rows)
    rest = _frame().filter(pl.col("y") != 2.5)
    read = hb.Log.read(rest, COLUMNS, reading=reading, batch_rows=batch_rows)
    assert read.repeated.tolist() == [2, 3]
    assert read.sums().sums.n.tolist() == [1, 1, 1]
    assert sum(batch.num_rows for batch in read.batches()) == 3


def test_rows_that_are_left_out_contradict_nobody():
    frame = _frame().with_columns(y=pl.when(pl.col("y") == 2.5).then(None).otherwise(pl.col("y")))
    reading = hb.Reading(drop_repeated=True, drop_missing=True)
    log = hb.Log.read(frame, COLUMNS, reading=reading)
    assert log.repeated.tolist() == [2, 4]
    (batch,) = log.batches()
    assert batch.rows.tolist() == [0, 1, 5]
    assert batch.left_out.to_dict() == {"repeated": 2, "missing": {"y": 1}}


def test_repeats_need_ids():
    named = hb.Columns(task="s", arm="k", reward="y")
    with pytest.raises(ValueError, match="drop_repeated must come with a column of decision ids"):
        hb.Log.read(_frame(), named, reading=hb.Reading(drop_repeated=True))
    with pytest.raises(ValueError, match="reading must be a Reading, got 'clean'"):
        hb.Log.read(_frame(), named, reading="clean")


def test_no_ids_no_repeats():
    repeats = Repeats.of(lambda: iter(()), "id")
    assert (repeats.copies.size, repeats.conflicts.size, repeats.shown) == (0, 0, ())
    hashes = np.array([1, 2, 3], np.uint64)
    assert Repeats.of(lambda: iter(()), "id", hashes).copies.size == 0
