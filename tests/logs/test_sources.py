"""Where logs come from: files that fail, and libraries that may be missing."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from hierbandits import inspect
from hierbandits.logs import Columns, Log


def test_pandas_needs_no_arrow():
    pytest.importorskip("pandas")
    code = """
import sys
sys.modules["pyarrow"] = None
import pandas, numpy
from hierbandits.logs import Columns, Log
when = pandas.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"])
frame = pandas.DataFrame({"task": ["u", "v", "u"], "x": [[1, 2], [3, 4], [5, 6]],
                          "reward": pandas.array([1, 2, 3], dtype="Int64"), "when": when})
log = Log.read(frame, Columns(task="task", features="x", reward="reward", time="when"))
print(log.sums().sums.xy.tolist(), [str(b.times.dtype)[:10] for b in log.batches()])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[[16.0, 20.0], [6.0, 8.0]] ['datetime64']\n"


def test_a_stream_that_fails_late_is_no_shorter_log(tmp_path):
    columns = Columns(task="task", arm="arm", reward="reward")
    rows = "s,a,1.0\n" * 300_000
    (tmp_path / "log.csv").write_text("task,arm,reward\n" + rows + "s,a,1.0,5,5\n" + rows)
    with pytest.raises(ValueError, match=r"source '.*log.csv' could not be read: found more"):
        Log.read(tmp_path / "log.csv", columns, batch_rows=1000).sums()
    cells = pl.Series(["1"] * 300_000 + ["x"])
    lazy = pl.DataFrame({"reward": cells}).lazy().with_columns(task=pl.lit(1), arm=pl.lit(1))
    with pytest.raises(ValueError, match="source could not be read: conversion"):
        Log.read(lazy.cast({"reward": pl.Float64}), columns, batch_rows=1000).sums()


def test_an_old_polars_is_refused(monkeypatch):
    monkeypatch.setattr(pl, "__version__", "1.36.1")
    with pytest.raises(ImportError, match=r"polars 1.37 or later, got 1.36.1"):
        Log.read(pl.DataFrame(), Columns(task="task", arm="arm", reward="reward"))


def test_polars_is_asked_for_by_name_and_only_when_needed():
    code = """
import sys
sys.modules["polars"] = None
from hierbandits.logs import Columns, Log
try:
    Log.read("log.csv", Columns(task="t", arm="a", reward="r"))
except ImportError as error:
    print(error)
print("pandas" in sys.modules, "pyarrow" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'hierbandits[data]'" in run.stdout
    assert run.stdout.endswith("False False\n")


@pytest.mark.parametrize("name", ["log[1]", "log*", "log?", "[log]", "{log}", "~log", "%20 log"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_is_read_whatever_its_name(name, kind, tmp_path):
    columns = Columns(task="task", arm="arm", reward="reward")
    for place, other in enumerate([name, "log1", "logs"], start=1):
        frame = pl.DataFrame({"task": ["t"], "arm": ["a"], "reward": [float(place)]})
        path = tmp_path / f"{other}.{kind}"
        frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    path = tmp_path / f"{name}.{kind}"
    for source in (path, str(path)):
        assert Log.read(source, columns).sums().sums.xy.tolist() == [[1.0]]
    path.unlink()
    if name in ("log[1]", "log*", "log?"):
        both = Log.read(path, columns).sums().sums.xy.sum()  # a pattern, if no file has this name
        assert both in (2.0, 5.0)


def test_a_column_that_occurs_twice_is_not_read_by_chance(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("task,reward,arm,note,reward,note\nt,1,a,x,2,y\n")
    columns = Columns(task="task", arm="arm", reward="reward")
    message = r"got 'reward', not among \['task', 'reward \(column 2\)', 'arm', 'note \(column 4\)'"
    with pytest.raises(ValueError, match=message):
        Log.read(path, columns)
    second = Columns(task="task", arm="arm", reward="reward (column 5)")
    assert Log.read(path, second).sums().sums.xy.tolist() == [[2.0]]
    path.write_text('task,reward,arm,"no,te","no,te",,\nt,1,a,x,2,,\n')
    assert Log.read(path, columns).sums().sums.xy.tolist() == [[1.0]]  # those are not asked for


@pytest.mark.parametrize("content", ["", "task\n", "\n\n"])
def test_a_csv_without_rows_is_refused(content, tmp_path):
    (tmp_path / "log.csv").write_text(content)
    with pytest.raises(
        ValueError, match=r"log.csv' could not be read|columns must|at least one row"
    ):
        Log.read(tmp_path / "log.csv", Columns(task="task", arm="arm", reward="reward")).sums()


PLAIN = {"task": ["t", "u", "t"], "arm": [1, 2, 2], "reward": [1, 2.5, 3]}


@pytest.mark.parametrize(
    "source",
    [
        PLAIN,
        [dict(zip(PLAIN, row, strict=True)) for row in zip(*PLAIN.values(), strict=True)],
        {name: np.array(cells) for name, cells in PLAIN.items()},
        np.array(
            list(zip(*PLAIN.values(), strict=True)),
            dtype=[("task", "U3"), ("arm", "i4"), ("reward", "f8")],
        ),
    ],
    ids=["columns", "rows", "arrays", "records"],
)
def test_plain_columns_and_rows_need_no_frame(source):
    log = Log.read(source, Columns(task="task", arm="arm", reward="reward"))
    past = log.sums()
    assert (past.tasks, past.arms) == (("t", "u"), (1, 2))
    assert past.sums.xy.tolist() == [[1.0, 3.0], [0.0, 2.5]]


def test_plain_columns_are_checked():
    columns = Columns(task="task", arm="arm", reward="reward")
    with pytest.raises(ValueError, match=r"columns must be of one length, got .*'arm': 2"):
        Log.read(PLAIN | {"arm": [1, 2]}, columns)
    with pytest.raises(ValueError, match=r"of one kind, got 'x' after a int .*'arm' at row 2$"):
        Log.read(PLAIN | {"arm": [1, 2, "x"]}, columns)
    missing = [{"task": "t", "arm": 1, "reward": 2.0}, {"task": "t", "arm": 1}]
    with pytest.raises(ValueError, match=r"reward must not be missing, got None .* at row 1"):
        Log.read(missing, columns).sums()
    for source in ([], (), [3], np.arange(3)):
        with pytest.raises(ValueError, match="source must be a frame, a mapping"):
            Log.read(source, columns)


class Stream:
    """Someone else's table, which speaks Arrow's C interface and nothing more."""

    def __init__(self, frame):
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self._frame.__arrow_c_stream__(requested_schema)


def test_any_table_that_speaks_arrow_is_read():
    columns = Columns(task="task", arm="arm", reward="reward")
    frame = pl.DataFrame(PLAIN, strict=False)
    assert Log.read(Stream(frame), columns).sums().sums.xy.sum() == 6.5


def test_arrow_datasets_and_folders_of_parts(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow.dataset

    columns = Columns(task="task", arm="arm", reward="reward")
    frame = pl.DataFrame(
        {"task": ["t", "u", "v", "t"] * 50, "arm": ["a", "b"] * 100, "reward": np.arange(200.0)}
    )
    for (task,), part in frame.group_by("task"):
        folder = tmp_path / "log" / f"task={task}"
        folder.mkdir(parents=True)
        part.drop("task").write_parquet(folder / "part.parquet")
    (tmp_path / "log" / "_SUCCESS").touch()
    dataset = pyarrow.dataset.dataset(tmp_path / "log", partitioning="hive")
    assert dataset.schema.names[-1] == "task"
    expected = {"t": 100, "u": 50, "v": 50}
    for source in (dataset, tmp_path / "log", str(tmp_path / "log" / "**" / "*.parquet")):
        past = Log.read(source, columns, batch_rows=30).sums()
        assert dict(zip(past.tasks, past.sums.n.tolist(), strict=True)) == expected
        assert past.sums.xy.sum() == frame["reward"].sum()
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"a folder of .parquet or .csv files, got"):
        Log.read(tmp_path / "empty", columns)


def test_parts_may_differ_in_columns_that_are_not_read(tmp_path):
    pl.DataFrame({"task": ["t"], "arm": [1], "reward": [1]}).write_parquet(tmp_path / "1.parquet")
    later = {"note": ["x"], "reward": [0.5], "task": ["u"], "arm": [2]}
    pl.DataFrame(later).write_parquet(tmp_path / "2.parquet")
    past = Log.read(tmp_path, Columns(task="task", arm="arm", reward="reward")).sums()
    assert past.sums.xy.tolist() == [[1.0, 0.0], [0.0, 0.5]]


def write_parts(folder, *stores):
    """A file for each: its stores, one row for each."""
    for place, names in enumerate(stores):
        cells = {"store": names, "promo": ["a"] * len(names), "revenue": [1.0] * len(names)}
        pl.DataFrame(cells).write_parquet(folder / f"{place}.parquet")


STORES = Columns(task="store", arm="promo", reward="revenue")


def form(folder, how):
    """The path of a folder, or its URL."""
    if how == "remote":
        pytest.importorskip("fsspec", reason="fsspec is not installed")
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return folder.as_uri() if how == "remote" else folder


HERE_AND_THERE = pytest.mark.parametrize("how", ["local", "remote"])


def test_an_empty_path_is_not_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_parts(tmp_path, ["s"])
    for source in ("", [""], ["0.parquet", ""]):
        with pytest.raises(ValueError, match=r"^source must be the path of a file or .*, got ''$"):
            Log.read(source, STORES)
    for source in ("file://", "s3:///", ["0.parquet", "memory://"]):
        with pytest.raises(ValueError, match=r"^source must be the URL of a file, a folder or"):
            Log.read(source, STORES)
    assert Log.read(".", STORES).sums().num_rows == 1


def test_a_file_counts_once_or_is_refused(tmp_path):
    write_parts(tmp_path, ["s"], ["t"])
    one = tmp_path / "0.parquet"
    told = r"^source must name each file once, got '.*0.parquet' \(by '.*'\) and .* are one file$"
    given = [[tmp_path, one], [one, one], [one, str(tmp_path / "*.parquet")], [one, one.as_uri()]]
    for source in given:
        with pytest.raises(ValueError, match=told):
            Log.read(source, STORES)
    assert Log.read(str(tmp_path / "**" / "**" / "*.parquet"), STORES).sums().num_rows == 2
    (tmp_path / "latest.parquet").symlink_to(one)
    with pytest.raises(ValueError, match=r"0.parquet' .* and '.*latest.parquet' .*are one file"):
        Log.read(tmp_path, STORES)


@HERE_AND_THERE
def test_a_file_that_ends_early_is_named(how, tmp_path):
    write_parts(tmp_path, ["s"], ["t"], ["u"])
    whole = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"^source '.*1.parquet' could not be read: "):
        Log.read(form(tmp_path, how), STORES)


@HERE_AND_THERE
def test_a_file_that_is_damaged_inside_is_named(how, tmp_path):
    write_parts(tmp_path, ["s"], [f"store {place}" for place in range(20_000)], ["u"])
    damaged = bytearray((tmp_path / "1.parquet").read_bytes())
    damaged[1000 : len(damaged) // 2] = bytes(len(damaged) // 2 - 1000)
    (tmp_path / "1.parquet").write_bytes(damaged)
    log = Log.read(form(tmp_path, how), STORES)
    for read in (log.sums, log.file_sums):
        with pytest.raises(ValueError, match=r"^source '.*1.parquet' could not be read: "):
            read()


def test_a_text_file_with_odd_lines_is_named(tmp_path):
    for place, line in enumerate(["s;a;1", "s;a;1;5", "s;a;1"]):
        (tmp_path / f"{place}.csv").write_text(f"store;promo;revenue\n{line}\n")
    with pytest.raises(ValueError, match=r"^source '.*1.csv' could not be read: found more"):
        Log.read(tmp_path, STORES).sums()


@HERE_AND_THERE
def test_numbers_here_and_text_there_do_not_join(how, tmp_path):
    """The stores 7 and "7" would become one without a word."""
    write_parts(tmp_path, [7], ["7"])
    told = r"^column 'store' must be of one kind in every file, got Int64 in '.*0.parquet' and Str"
    with pytest.raises(ValueError, match=told):
        Log.read(form(tmp_path, how), STORES)


@HERE_AND_THERE
def test_numbers_of_any_size_and_text_of_any_form_join(how, tmp_path):
    ints = [pl.Series([7], dtype=kind) for kind in (pl.Int32, pl.Int64, pl.UInt8, pl.UInt64)]
    write_parts(tmp_path, *ints)
    assert Log.read(form(tmp_path, how), STORES).sums().tasks == (7,)
    text = [pl.Series(["s"], dtype=kind) for kind in (pl.String, pl.Categorical, pl.Enum(["s"]))]
    write_parts(tmp_path, *text, ["s"])
    for read in (Log.sums, Log.file_sums):
        assert read(Log.read(form(tmp_path, how), STORES)).tasks == ("s",)


@HERE_AND_THERE
def test_columns_that_are_not_read_may_be_of_two_kinds(how, tmp_path):
    for place, notes in enumerate([[1], ["x"], ["y"]]):
        cells = {"store": ["s"], "promo": ["a"], "revenue": [1], "note": notes}
        pl.DataFrame(cells).write_parquet(tmp_path / f"{place}.parquet")
    source = form(tmp_path, how)
    log = Log.read(source, STORES)
    assert log.sums().num_rows == log.file_sums().num_rows == 3
    (note,) = (column for column in inspect(source).columns if column.name == "note")
    assert note.kind == "text"
