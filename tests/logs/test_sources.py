"""Where logs come from: files that fail, and libraries that may be missing."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

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
    with pytest.raises(ValueError, match="source could not be read: found more fields"):
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
    with pytest.raises(ValueError, match=r"source could not be read|columns must|at least one row"):
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
