"""Sums of many files: those of all rows at once, by name, and what cannot be joined."""

import numpy as np
import polars as pl
import pytest
from support.cluster_checks import sample_log

from hierbandits.logs import Columns, Log, LogSums, Reading
from hierbandits.logs.joined_sums import JoinedSums

COLUMNS = Columns(task="store", reward="revenue", arm="promo")


def files(folder, frame, cuts):
    """The frame in files that begin at these rows."""
    for place, (first, last) in enumerate(zip([0, *cuts], [*cuts, frame.height], strict=True)):
        frame[first:last].write_parquet(folder / f"{place}.parquet")
    return folder


def assert_same(one, other):
    assert (one.tasks, one.arms, one.populations) == (other.tasks, other.arms, other.populations)
    np.testing.assert_array_equal(one.population, other.population)
    for name, values in one.sums.state().items():
        np.testing.assert_allclose(values, other.sums.state()[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("cuts", [[500], [1, 2, 3, 900], [0, 400, 1000]])
@pytest.mark.parametrize("given", [None, ["promo 2", "promo 0", "promo 1"]])
def test_sums_of_files_are_those_of_all_rows(tmp_path, cuts, given):
    frame = pl.DataFrame(sample_log(num_rows=1000))
    whole = Log.read(frame, COLUMNS, arms=given).sums()
    assert_same(Log.read(files(tmp_path, frame, cuts), COLUMNS, arms=given).file_sums(), whole)


def test_features_contexts_and_populations(tmp_path):
    rng = np.random.default_rng(2)
    columns = {"x": rng.normal(size=600), "z": rng.normal(size=600)}
    frame = pl.DataFrame(sample_log(num_rows=600) | columns)
    town = pl.col("store").str.tail(1).alias("town")
    folder = files(tmp_path, frame.with_columns(town), [10, 300])
    for named in (
        Columns(task="store", reward="revenue", features=["x", "z"], population="town"),
        Columns(task="store", reward="revenue", arm="promo", population="town"),
        Columns(task="store", reward="revenue", arm="promo", features=["x", "z"]),
    ):
        assert_same(
            Log.read(folder, named).file_sums(), Log.read(frame.with_columns(town), named).sums()
        )


def test_names_that_look_alike_are_one_in_all_files(tmp_path):
    names = ["North", "north ", "NORTH", "South"]
    frame = pl.DataFrame({"store": names, "promo": ["a", "A", "b", "b"], "revenue": [1.0, 2, 3, 4]})
    folder, reading = files(tmp_path, frame, [1, 2, 3]), Reading(merge_names=True)
    sums = Log.read(folder, COLUMNS, reading=reading).file_sums()
    assert_same(sums, Log.read(frame, COLUMNS, reading=reading).sums())
    assert sums.tasks == ("North", "South")
    assert sums.sums.xy.tolist() == [[3.0, 3.0], [0.0, 4.0]]


def test_files_without_rows_are_passed_over_but_not_all(tmp_path):
    frame = pl.DataFrame(sample_log(num_rows=10))
    for place, part in enumerate((frame[:0], frame, frame[:0])):
        part.write_parquet(tmp_path / f"{place}.parquet")
    assert Log.read(tmp_path, COLUMNS).file_sums().num_rows == 10
    frame[:0].write_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match="source must have at least one row, got none"):
        Log.read(tmp_path, COLUMNS).file_sums()


def test_a_task_that_moves_between_files_is_refused(tmp_path):
    frame = pl.DataFrame(
        {"store": ["s", "t", "s"], "promo": ["a", "b", "a"], "revenue": [1.0, 2, 3],
         "town": ["x", "x", "y"]}
    )  # fmt: skip
    columns = Columns(task="store", reward="revenue", arm="promo", population="town")
    with pytest.raises(ValueError, match="population must stay 'x' for task 's' in every file"):
        Log.read(files(tmp_path, frame, [2]), columns).file_sums()


def test_features_of_other_lengths_are_refused(tmp_path):
    for place, cell in enumerate(([1.0, 2.0], [1.0])):
        cells = {"store": ["s"], "x": [cell], "revenue": [1.0]}
        pl.DataFrame(cells).write_parquet(tmp_path / f"{place}.parquet")
    with pytest.raises(ValueError, match="features must be lists of 2 numbers in every file"):
        Log.read(tmp_path, Columns(task="store", reward="revenue", features="x")).file_sums()


def test_nothing_was_added():
    joined = JoinedSums()
    assert joined.is_empty
    part = Log.read(pl.DataFrame(sample_log(num_rows=20)), COLUMNS).sums()
    joined.add(part)
    assert not joined.is_empty
    assert isinstance(joined.total(), LogSums)
