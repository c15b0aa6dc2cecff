"""The kinds of cells of several files: what joins, and what is refused by name."""

import polars as pl
import pytest

from hierbandits.logs.file_kinds import joined_kind, joined_kinds

UTC = pl.Datetime("us", "UTC")


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (pl.Int32, pl.Int64, pl.Int64),
        (pl.UInt8, pl.Int8, pl.Int16),
        (pl.Int64, pl.Float32, pl.Float64),
        (pl.Categorical, pl.String, pl.String),
        (pl.Enum(["a"]), pl.Enum(["b"]), pl.String),
        (pl.Date, pl.Datetime("us"), pl.Datetime("us")),
        (pl.List(pl.Int64), pl.Array(pl.Float64, 2), pl.List(pl.Float64)),
        (pl.List(pl.Null), pl.List(pl.String), pl.List(pl.String)),
        (pl.Null, pl.String, pl.String),
        (pl.Boolean, pl.Boolean, pl.Boolean),
        (pl.Int64, pl.String, None),
        (pl.Int64, pl.Boolean, None),
        (pl.Int64, pl.Date, None),
        (pl.Date, pl.String, None),
        (pl.List(pl.Int64), pl.List(pl.String), None),
        (pl.List(pl.Int64), pl.Int64, None),
        (pl.Binary, pl.String, None),
        (UTC, pl.Datetime("us"), None),
    ],
    ids=str,
)
def test_kinds_join_where_cells_stay_what_they_mean(one, other, both):
    assert joined_kind(one, other) == both
    assert joined_kind(other, one) == both


def test_columns_of_any_file_count():
    kinds = [{"a": pl.Int32, "b": pl.Null}, {"c": pl.Date, "a": pl.Int64}, {"b": pl.String}]
    assert joined_kinds("xyz", kinds) == {"a": pl.Int64, "b": pl.String, "c": pl.Date}


def test_the_files_that_disagree_are_named():
    kinds = [{"a": pl.Null}, {"a": pl.Int32}, {"a": pl.Int64}, {"a": pl.String}]
    told = r"^column 'a' must be of one kind in every file, got Int64 in 'x' and String in 'z'$"
    with pytest.raises(ValueError, match=told):
        joined_kinds("wxyz", kinds)
    with pytest.raises(ValueError, match=told):
        joined_kinds("wxyz", kinds, ["a"])
    assert joined_kinds("wxyz", [*kinds[:3], {"a": pl.String}], ["b"]) == {"a": pl.String}
