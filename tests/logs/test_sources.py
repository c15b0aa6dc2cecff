"""Where logs come from: files that fail, and libraries that may be missing."""

import subprocess
import sys

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
