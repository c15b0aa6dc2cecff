"""Parquet files on this machine as one frame."""

import polars as pl
import pytest

from hierbandits.logs.parquet_files import folder_columns, opened_parquet, some_parquet
from hierbandits.logs.text_file import UnreadableSource


def write(folder, name, **columns):
    """A file of these columns; returns its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(columns).write_parquet(path)
    return str(path)


def test_rows_are_in_order_with_the_columns_of_any_file(tmp_path):
    one = write(tmp_path, "1.parquet", a=pl.Series([1, 2], dtype=pl.Int32), b=["x", "y"])
    other = write(tmp_path, "2.parquet", c=[0.5], a=[3])
    rows = opened_parquet([one, other]).collect()
    assert rows.to_dict(as_series=False) == {
        "a": [1, 2, 3], "b": ["x", "y", None], "c": [None, None, 0.5]
    }  # fmt: skip
    assert rows.schema["a"] == pl.Int64


def test_some_files_have_the_columns_of_all(tmp_path):
    one = write(tmp_path, "1.parquet", a=[1], b=["x"])
    other = write(tmp_path, "2.parquet", a=[0.5], c=[7])
    kinds = opened_parquet([one, other]).collect_schema()
    some = some_parquet([one], kinds).collect()
    assert some.schema == kinds
    assert some.rows() == [(1.0, "x", None)]


def test_numbers_and_text_are_refused_where_they_are_read(tmp_path):
    one, other = write(tmp_path, "1.parquet", a=[7], b=[1]), write(tmp_path, "2.parquet", a=["7"])
    for names in (None, ["a"]):
        with pytest.raises(ValueError, match=r"'a' must be of one kind .*Int64 in .*1.parquet' an"):
            opened_parquet([one, other], names)
    whole = opened_parquet([one, other], ["b"])
    assert whole.select("a").collect()["a"].to_list() == ["7", "7"]
    assert some_parquet([one], whole.collect_schema()).collect().rows() == [("7", 1)]


def test_what_folders_name_is_text_if_any_is_no_number(tmp_path):
    names = ["store=007/1.parquet", "store=north/1.parquet"]
    paths = [write(tmp_path, name, a=[1]) for name in names]
    whole = opened_parquet(paths)
    assert whole.collect()["store"].to_list() == ["007", "north"]
    assert some_parquet(paths[:1], whole.collect_schema()).collect().rows() == [(1, "007")]
    assert opened_parquet(paths[:1]).collect()["store"].to_list() == [7]
    assert folder_columns("a=1/b=2=3/c/d=4.parquet") == ["a"]


def test_a_folder_with_two_marks_is_no_column(tmp_path):
    paths = [write(tmp_path, f"a=1/b=2=3/{name}.parquet", c=[1]) for name in ("1", "2")]
    assert opened_parquet(paths).collect().columns == ["c", "a"]


def test_a_damaged_file_is_named(tmp_path):
    paths = [write(tmp_path, f"{place}.parquet", a=[1]) for place in range(3)]
    with open(paths[1], "wb") as file:
        file.write(b"PAR1")
    with pytest.raises(UnreadableSource, match=r"^source '.*1.parquet' could not be read: "):
        opened_parquet(paths)
