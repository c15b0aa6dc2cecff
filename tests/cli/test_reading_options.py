"""Options that say how a log is read."""

import polars as pl
import pytest

import hierbandits as hb
from hierbandits.cli.reading_options import limits_of, opened_log, reading_of, source_of
from hierbandits.cli.terminal import in_one_line

GIVEN = {
    "strip": True, "merge_names": True, "missing": ["NA"], "drop_missing": True, "decision": "id",
    "separator": ";", "decimal": ",", "time_format": "%Y",
}  # fmt: skip


def test_options_are_one_reading():
    assert reading_of(**GIVEN) == hb.Reading(
        strip=True, merge_names=True, missing=("NA",), drop_missing=True, drop_repeated=True,
        separator=";", decimal=",", time_format="%Y",
    )  # fmt: skip
    nothing = {"strip": False, "merge_names": False, "missing": None}
    nothing |= {"drop_missing": False, "decision": None}
    assert reading_of(**nothing, separator=None, decimal=".") == hb.Reading()
    with pytest.raises(ValueError, match="decimal must be"):
        reading_of(**nothing, separator=None, decimal="'")


def test_an_error_about_a_row_says_how_to_see_them_all():
    error = ValueError("reward must be a number,\n got 'x' in column 'y' at row 12")
    line = "reward must be a number, got 'x' in column 'y' at row 12 "
    assert in_one_line(error) == line + "(hierbandits inspect tells all problems at once)"
    assert in_one_line(OSError("no such\nfile")) == "no such file"


def test_one_file_or_several():
    assert source_of(["a.csv"]) == "a.csv"
    assert source_of(["a.csv", "b.csv"]) == ["a.csv", "b.csv"]


def test_a_log_is_opened_with_names_as_its_columns_hold_them(tmp_path):
    path = str(tmp_path / "log.parquet")
    columns = {"s": ["a", "b"], "k": [1, 2], "y": [1.0, 2.0], "x": [[1.0], [2.0]]}
    more = str(tmp_path / "more.parquet")
    for each in (path, more):
        pl.DataFrame(columns).write_parquet(each)
    roles = {"task": "s", "reward": "y", "arm": "k", "features": None}
    log = opened_log([path], roles, ["2", "1"], hb.Reading())
    assert log.arms == (2, 1)
    log = opened_log([path, more], roles | {"arm": None, "features": ["x"]}, None, hb.Reading())
    assert log.columns.features == "x"
    assert log.sums().num_rows == 4


def test_limits_are_given_by_name():
    assert limits_of(None) == {}
    assert limits_of(["tasks=20000000", "name_length=5000"]) == {
        "tasks": 20_000_000,
        "name_length": 5000,
    }
    for wrong in (
        "tasks",
        "tasks=",
        "tasks=-1",
        "tasks=1e6",
        "stores=5",
        "=3",
        "tasks=" + "9" * 30,
    ):
        with pytest.raises(ValueError, match="--limit must be NAME=NUMBER, one of tasks, arms"):
            limits_of([wrong])
