"""Names as they are typed become names as the log has them."""

import polars as pl
import pytest

from hierbandits.cli.spelling import feature_columns, names_as_in_log


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.parquet"
    columns = {"arm": ["a"], "number": [-1], "x": [0.5], "xs": [[0.5, 1.0]]}
    pl.DataFrame(columns).write_parquet(path)
    return path


@pytest.mark.parametrize(
    ("column", "names", "expected"),
    [
        ("arm", ["1", 2, "a"], ["1", "2", "a"]),
        ("number", ["1", "-2", 3, "a"], [1, -2, 3, "a"]),
        ("number", ["1.5", "--3", ""], ["1.5", "--3", ""]),
        ("not there", [1], ["1"]),  # the log itself says that the column is not there
        (None, [1, "2"], [1, "2"]),
        ("arm", None, None),
        (None, None, None),
    ],
)
def test_names_are_integers_where_the_column_has_integers(column, names, expected, log):
    assert names_as_in_log(log, column, names) == expected


def test_names_of_a_csv_file_are_text(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("arm\n1\n")
    assert names_as_in_log(path, "arm", [1, "2"]) == ["1", "2"]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["xs"], "xs"),
        (["x"], ["x"]),
        (["xs", "x"], ["xs", "x"]),
        (["not there"], ["not there"]),
        (None, None),
    ],
)
def test_a_column_of_lists_is_all_the_features(columns, expected, log):
    assert feature_columns(log, columns) == expected
