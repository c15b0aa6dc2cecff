"""Names of tasks, arms and populations get numbers."""

import numpy as np
import polars as pl
import pytest
from support.log_sources import ARMS, as_source

from hierbandits.logs import Columns, Log
from hierbandits.logs.numbering import Numbering


def test_arms_given_fix_their_order_and_number(tmp_path):
    frame = pl.DataFrame({"task": [7, 8], "arm": [3, 1], "reward": [1.0, 2.0]})
    columns = Columns(task="task", arm="arm", reward="reward")
    for kind in ("polars", "csv"):
        log = Log.read(as_source(kind, frame, tmp_path), columns, arms=[1, 2, 3])
        past = log.sums()
        assert past.arms == (1, 2, 3)
        assert past.sums.xy.tolist() == [[0, 0, 1], [2, 0, 0]]
        assert past.tasks == ((7, 8) if kind == "polars" else ("7", "8"))  # a CSV has text alone
        assert past.populations == ("all",)
        assert past.population.tolist() == [0, 0]


def test_names_are_strings_or_integers_throughout():
    columns = Columns(task="task", arm="arm", reward="reward")
    frame = pl.DataFrame({"task": [1.5, 2.0], "arm": [1, 1], "reward": [1, 2]})
    with pytest.raises(ValueError, match=r"task must be a string or an integer, got 1.5 .* row 0$"):
        Log.read(frame, columns).sums()
    frame = frame.with_columns(task=pl.Series(["a", "b"]))
    with pytest.raises(ValueError, match=r"arm must be strings, as the names given, got 1 "):
        Log.read(frame, columns, arms=ARMS).sums()
    pandas = pytest.importorskip("pandas")
    mixed = pandas.DataFrame({"task": [1, "a"], "arm": [1, 1], "reward": [1, 2]}, dtype=object)
    with pytest.raises(ValueError, match=r"task must be integers, .* got 'a' .* at row 1$"):
        Log.read(mixed, columns, batch_rows=1).sums()


def test_categories_and_booleans_are_taken():
    frame = pl.DataFrame(
        {"task": ["u", "v", "u"], "arm": ["a", "b", "a"], "reward": [True, False, True]},
        schema_overrides={"task": pl.Categorical, "arm": pl.Enum(["a", "b"])},
    )
    columns = Columns(task="task", arm="arm", reward="reward")
    past = Log.read(frame, columns, batch_rows=2).sums()
    assert (past.tasks, past.arms) == (("u", "v"), ("a", "b"))
    assert past.sums.xy.tolist() == [[2, 0], [0, 0]]


def test_integers_beyond_64_signed_bits_are_refused():
    frame = pl.DataFrame({"task": [3, 2**63], "arm": [1, 1], "reward": [1, 2]})
    frame = frame.with_columns(pl.col("task").cast(pl.UInt64))
    with pytest.raises(ValueError, match=r"task must be below 2\*\*63, got 9223372036854775808 "):
        Log.read(frame, Columns(task="task", arm="arm", reward="reward")).sums()


def test_a_name_keeps_the_place_of_its_first_appearance():
    names = []
    numbering = Numbering("task", names)
    assert numbering.places(pl.Series(["b", "a", "b"]), range(3)).tolist() == [0, 1, 0]
    assert numbering.places(pl.Series(["c", "a", "d", "c"]), range(3, 7)).tolist() == [2, 1, 3, 2]
    assert names == ["b", "a", "c", "d"]


def test_names_that_look_alike_have_one_place_if_they_are_merged():
    names = []
    numbering = Numbering("task", names, merge=True)
    first = pl.Series(["Zürich", "Oslo", "ZÜRICH ", "Zu\u0308rich"])
    np.testing.assert_array_equal(numbering.places(first, range(4)), [0, 1, 0, 0])
    np.testing.assert_array_equal(
        numbering.places(pl.Series(["oslo", "Rom", "rom", "Oslo"]), range(4)), [1, 2, 2, 1]
    )
    assert names == ["Zürich", "Oslo", "Rom"]


def test_given_names_take_in_those_that_look_like_them():
    numbering = Numbering("arm", ["none", "Bogo"], fixed=True, merge=True)
    np.testing.assert_array_equal(
        numbering.places(pl.Series(["BOGO", "none", "bogo"]), range(3)), [1, 0, 1]
    )
    with pytest.raises(ValueError, match="arm must be one of 'none', 'Bogo', got 'flyer'"):
        numbering.places(pl.Series(["NONE", "flyer"]), range(2))
    whole = Numbering("task", [], merge=True)
    np.testing.assert_array_equal(whole.places(pl.Series([7, 3, 7]), range(3)), [0, 1, 0])
