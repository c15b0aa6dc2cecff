"""Logs of many Parquet files, part by part."""

import numpy as np
import polars as pl
import pytest
from support.cluster_checks import sample_log

from hierbandits.logs import Columns, Log, Reading, log_parts
from hierbandits.logs.log_parts import parts_of

COLUMNS = Columns(task="store", reward="revenue", arm="promo")


def write(folder, sizes, frame=None):
    """A file of so many rows each; returns all rows."""
    frame = pl.DataFrame(sample_log(num_rows=sum(sizes))) if frame is None else frame
    start = 0
    for place, size in enumerate(sizes):
        frame[start : start + size].write_parquet(folder / f"part-{place:04}.parquet")
        start += size
    return frame


def test_each_file_is_a_part_whose_rows_keep_their_numbers(tmp_path):
    frame = write(tmp_path, [7, 0, 5, 8])
    parts = parts_of(Log.read(tmp_path, COLUMNS))
    assert [part.first_row for part in parts] == [0, 7, 7, 12]
    rows = [row for part in parts for some, numbers in part.clean_frames() for row in numbers]
    assert rows == list(range(20))
    cells = [cell for part in parts for some, _ in part.clean_frames() for cell in some["revenue"]]
    assert cells == frame["revenue"].to_list()


def test_many_files_are_few_parts_in_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr(log_parts, "MOST_PARTS", 3)
    write(tmp_path, [1] * 10)
    parts = parts_of(Log.read(tmp_path, COLUMNS))
    assert [len(part.files) for part in parts] == [3, 3, 4]
    assert [part.first_row for part in parts] == [0, 3, 6]


def test_a_part_has_the_kinds_of_cells_of_the_whole(tmp_path):
    kinds = ([1, 2], [0.5, 1.5])
    for place, rewards in enumerate(kinds):
        cells = {"store": [1, 2], "promo": ["a", "b"], "revenue": rewards}
        pl.DataFrame(cells).write_parquet(tmp_path / f"{place}.parquet")
    for part in parts_of(Log.read(tmp_path, COLUMNS)):
        for some, _ in part.clean_frames():
            assert some["revenue"].dtype == pl.Float64


def test_text_one_file_frames_and_unchecked_ids_are_one_part(tmp_path):
    frame = write(tmp_path, [3, 3])
    frame.write_csv(tmp_path / "1.csv")
    frame.write_csv(tmp_path / "2.csv")
    texts = [tmp_path / "1.csv", tmp_path / "2.csv"]
    for source in (texts, frame, tmp_path / "part-0000.parquet"):
        log = Log.read(source, COLUMNS)
        assert parts_of(log) == [log]
    ids = frame.with_columns(id=np.arange(6))
    write(tmp_path, [3, 3], ids)
    files = sorted(tmp_path.glob("*.parquet"))
    columns = Columns(task="store", reward="revenue", arm="promo", decision="id")
    assert len(parts_of(Log.read(files, columns))) == 1
    assert len(parts_of(Log.read(files, columns, reading=Reading(drop_repeated=True)))) == 2


def test_repeated_rows_are_left_out_of_the_part_that_has_them(tmp_path):
    frame = write(tmp_path, [4]).with_columns(id=np.arange(4))
    write(tmp_path, [4, 4], pl.concat([frame, frame]))
    columns = Columns(task="store", reward="revenue", arm="promo", decision="id")
    log = Log.read(tmp_path, columns, reading=Reading(drop_repeated=True))
    assert log.file_sums().num_rows == log.sums().num_rows == 4


def test_a_bad_cell_is_named_by_its_row_in_the_whole_log(tmp_path):
    frame = write(tmp_path, [4, 4])
    bad = frame.with_columns(revenue=pl.when(pl.int_range(8) == 6).then(None).otherwise(0.5))
    write(tmp_path, [4, 4], bad)
    with pytest.raises(ValueError, match=r"'revenue' at row 6$"):
        Log.read(tmp_path, COLUMNS).file_sums()
