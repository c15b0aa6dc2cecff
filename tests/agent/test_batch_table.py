"""Tables of batches: read whole, written whole to new files."""

import polars as pl
import pytest

from hierbandits.agent.batch_table import check_place, column_of, read_table, write_new_table

FRAME = pl.DataFrame({"task": ["a", "b"], "n": [1, 2]})


@pytest.mark.parametrize("form", ["parquet", "csv", "CSV"])
def test_a_table_comes_back(tmp_path, form):
    path = tmp_path / f"table.{form}"
    write_new_table(FRAME, path)
    frame, is_text = read_table("tasks", path)
    assert is_text == (form != "parquet")
    assert frame.cast(pl.String).rows() == [("a", "1"), ("b", "2")]


def test_frames_are_tables_too():
    assert read_table("tasks", FRAME.lazy())[0].equals(FRAME)
    assert read_table("tasks", FRAME.to_pandas(use_pyarrow_extension_array=False))[0].equals(FRAME)


def test_a_file_that_is_there_is_left_alone(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="out must be a new file"):
        write_new_table(FRAME, path)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["mine"]


def test_what_cannot_be_read_is_named(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    for source in (tmp_path / "bad.parquet", tmp_path / "none.csv", tmp_path / "x.txt", 3):
        with pytest.raises(ValueError, match="tasks could not be read: "):
            read_table("tasks", source)


def test_a_column_must_be_there():
    assert column_of("task", FRAME, "n").to_list() == [1, 2]
    with pytest.raises(ValueError, match=r"task must be one of the columns \['task', 'n'\], got"):
        column_of("task", FRAME, "store")


@pytest.mark.parametrize("name", ["d.txt", "none/d.csv", "folder.csv"])
def test_a_place_that_cannot_be_written_is_refused_early(tmp_path, name):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match="out must"):
        check_place(tmp_path / name)
    check_place(tmp_path / "new.csv")
