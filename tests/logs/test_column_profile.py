"""What one column holds."""

from datetime import date

import numpy as np
import polars as pl
import pytest

from hierbandits.logs.column_profile import ColumnProfiler


def _profile(*parts, decimal=".", dtype=None):
    profiler, start = ColumnProfiler("c", decimal), 0
    for part in parts:
        series = pl.Series("c", part, dtype=dtype)
        profiler.add(series, np.arange(start, start + series.len()))
        start += series.len()
    return profiler.profile()


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2", "x", "3"], "integers"),
        (["1", "2.5"], "numbers"),
        (["1.0", " 2"], "integers"),
        (["2024-03-14", "2024-03-15T10:00"], "dates"),
        (["a", "b"], "text"),
        ([None, None], "nothing"),
        ([1, 2], "integers"),
        ([1.0, 2.0], "numbers"),
        ([True, False], "booleans"),
        ([date(2024, 1, 1)], "dates"),
        ([[1], [2, 3]], "lists"),
    ],
)
def test_kinds_are_told(cells, kind):
    assert _profile(cells).kind == kind


def test_cells_are_counted_through_batches():
    profile = _profile(["1", None, "2"], [" 2", "1,5", "1", None, None, None, None, None])
    assert (profile.num_rows, profile.num_missing, profile.distinct) == (11, 6, 4)
    assert profile.missing_rows == (1, 6, 7, 8, 9)
    assert (profile.num_padded, profile.padded_rows) == (1, (3,))
    assert (profile.least, profile.largest) == (1.0, 2.0)
    assert profile.examples == ("1", "2", " 2")
    assert profile.cells() == ["c", "integers", "4", "6", "1 to 2", "1, 2,  2"]
    assert profile.to_dict()["missing_rows"] == [1, 6, 7, 8, 9]


def test_both_kinds_of_numbers_are_numbers():
    assert _profile(["1", "2"], ["1.5", "2.5"]).kind == "numbers"
    assert _profile(["1", "2"], ["a", "b"]).kind == "text"
    assert _profile(["1,5", "2"], decimal=",").kind == "numbers"


def test_constant_and_unique_columns():
    assert _profile(["a"] * 3).is_constant
    assert not _profile(["a", None, "a"]).is_constant
    assert not _profile(["a"]).is_constant
    assert _profile([str(i) for i in range(100)]).is_unique
    assert not _profile([str(i % 50) for i in range(100)]).is_unique


def test_fingerprints_are_equal_for_equal_columns_alone():
    one = _profile(["a", "b", "c"])
    assert one.fingerprint == _profile(["a"], ["b", "c"]).fingerprint
    assert one.fingerprint != _profile(["a", "c", "b"]).fingerprint
    assert one.fingerprint != _profile(["a", "b", None]).fingerprint
