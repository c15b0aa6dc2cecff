"""Some rows of a log: their numbers, their form and how many arms were met."""

import polars as pl

from hierbandits.logs import Columns, Log

FRAME = pl.DataFrame(
    {
        "s": ["a", "b", "a", "c", "a"],
        "arm": ["x", "x", "y", "z", "y"],
        "y": [1.0, 2.0, 3.0, 4.0, 5.0],
    }
).with_columns(one=1.0, two=pl.col("y") / 2)


def test_rows_are_numbered_through_the_log_and_arms_are_counted_as_they_come():
    log = Log.read(FRAME, Columns(task="s", arm="arm", reward="y"), batch_rows=2)
    seen = [(b.num_rows, b.numbers.tolist(), b.is_armed, b.dim) for b in log.batches()]
    assert seen == [(2, [0, 1], True, 1), (2, [2, 3], True, 3), (1, [4], True, 3)]


def test_features_have_their_own_number():
    log = Log.read(FRAME, Columns(task="s", features=["one", "two"], reward="y"), batch_rows=4)
    assert [(b.is_armed, b.dim, b.num_rows) for b in log.batches()] == [
        (False, 2, 4),
        (False, 2, 1),
    ]
