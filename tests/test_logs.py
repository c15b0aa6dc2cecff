"""Logs: every kind of source gives the same sums, and bad rows are named."""

import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.keyed_random import Stream
from hierbandits.logs import Columns, Log, RowSample, Spread

ROWS, TASKS, BATCH = 500, 40, 64
ARMS = ("c", "a", "b")
FEATURES = ["x0", "x1", "x2"]
KINDS = ["polars", "lazy", "pandas", "arrow", "parquet", "csv"]


def _rows(rng):
    """A log with everything, and more tasks in its second half than in its first."""
    task = np.concatenate([rng.integers(0, 9, ROWS // 2), rng.integers(0, TASKS, ROWS // 2)])
    x = rng.normal(size=(ROWS, 3))
    return pl.DataFrame(
        {
            "task": [f"t{i}" for i in task],
            "arm": np.array(ARMS)[rng.integers(0, 3, ROWS)],
            "x": x,
            **{name: x[:, i] for i, name in enumerate(FEATURES)},
            "reward": rng.normal(size=ROWS),
            "country": np.array(["no", "fi"])[task % 2],
            "id": [f"d{i}" for i in range(ROWS)],
            "p": rng.uniform(0.1, 1.0, ROWS),
            "when": np.arange(ROWS) * 1.5,
        }
    )


def _source(kind, frame, folder):
    if kind == "polars":
        return frame
    if kind == "lazy":
        return frame.lazy()
    if kind == "pandas":
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame({c.name: c.to_list() for c in frame})
    if kind == "arrow":
        pytest.importorskip("pyarrow")
        return frame.to_arrow()
    path = folder / f"log.{kind}"
    if kind == "csv":
        lists = [c.name for c in frame if isinstance(c.dtype, pl.List | pl.Array)]
        frame.drop(lists).write_csv(path)
    else:
        frame.write_parquet(path)
    return path if kind == "csv" else str(path)


def _first_seen(values):
    return tuple(dict.fromkeys(values))


def _expected(frame, features, names, dim, armed):
    sums = TaskSums.zeros(len(names), dim, armed=armed)
    sums.add([names.index(task) for task in frame["task"]], features, frame["reward"].to_numpy())
    return sums


def _assert_same(sums, other):
    for part in ("xx", "xy", "yy", "n"):
        np.testing.assert_array_equal(getattr(sums, part), getattr(other, part))


@pytest.mark.parametrize("batch_rows", [1, BATCH, 10 * ROWS])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_those_of_the_rows(kind, batch_rows, tmp_path):
    """Row by row, in batches and as a whole, and to the last digit."""
    frame = _rows(np.random.default_rng(0))
    tasks = _first_seen(frame["task"])
    source = _source(kind, frame, tmp_path)
    names = {"task": "task", "reward": "reward", "population": "country"}
    linear = Log.read(source, Columns(features=FEATURES, **names), batch_rows=batch_rows).sums()
    x = frame.select(FEATURES).to_numpy()
    _assert_same(linear.sums, _expected(frame, x, tasks, 3, armed=False))
    armed = Log.read(source, Columns(arm="arm", **names), batch_rows=batch_rows).sums()
    arms = _first_seen(frame["arm"])
    played = [arms.index(arm) for arm in frame["arm"]]
    _assert_same(armed.sums, _expected(frame, played, tasks, 3, armed=True))
    assert linear.tasks == armed.tasks == tasks
    assert (linear.arms, armed.arms) == (None, arms)
    assert linear.num_rows == armed.num_rows == ROWS
    assert linear.populations == _first_seen(frame["country"])
    for task, place in zip(linear.tasks, linear.population, strict=True):
        assert linear.populations[place] == ("no", "fi")[int(task[1:]) % 2]


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow", "parquet"])
def test_a_column_of_lists_is_as_good_as_a_column_for_each_feature(kind, tmp_path):
    frame = _rows(np.random.default_rng(1))
    lists = frame.with_columns(pl.col("x").arr.to_list())
    apart = Log.read(frame, Columns(task="task", features=FEATURES, reward="reward")).sums()
    for form in (frame, lists):
        source = _source(kind, form, tmp_path)
        columns = Columns(task="task", features="x", reward="reward")
        _assert_same(Log.read(source, columns, batch_rows=BATCH).sums().sums, apart.sums)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_hold_every_row_in_order(kind, tmp_path):
    frame = _rows(np.random.default_rng(2))
    columns = Columns(
        task="task",
        arm="arm",
        reward="reward",
        population="country",
        decision="id",
        propensity="p",
        time="when",
    )
    log = Log.read(_source(kind, frame, tmp_path), columns, arms=ARMS, batch_rows=BATCH)
    batches = list(log.batches())
    assert len(batches) > 1
    sizes = [batch.tasks.size for batch in batches]
    assert [batch.first_row for batch in batches] == np.cumsum([0, *sizes[:-1]]).tolist()
    names = batches[0].names
    assert names.arms == list(ARMS)

    def whole(part):
        return np.concatenate([getattr(batch, part) for batch in batches])

    assert [names.tasks[i] for i in whole("tasks")] == frame["task"].to_list()
    assert [names.arms[i] for i in whole("features")] == frame["arm"].to_list()
    assert [names.populations[i] for i in whole("populations")] == frame["country"].to_list()
    assert whole("rewards").tolist() == frame["reward"].to_list()
    assert whole("propensities").tolist() == frame["p"].to_list()
    assert whole("decisions").tolist() == frame["id"].to_list()
    assert whole("times").astype(float).tolist() == frame["when"].to_list()
    assert batches[0].eligible is None
    again = np.concatenate([batch.tasks for batch in log.batches()])
    np.testing.assert_array_equal(again, whole("tasks"))


@pytest.mark.parametrize("batch_rows", [1, 2, 10])
@pytest.mark.parametrize("kind", ["polars", "pandas", "parquet", "csv"])
def test_eligible_arms_are_a_mask(kind, batch_rows, tmp_path):
    lists = [["b", "a"], ["c", "b"], ["a", "c", "b"]]
    frame = pl.DataFrame(
        {"task": [1, 2, 1], "arm": ["a", "b", "c"], "reward": [1, 0, 1], "may": lists}
    )
    source = _source(kind, frame, tmp_path)
    if kind == "csv":
        joined = frame.with_columns(pl.col("may").list.join("|"))
        joined.write_csv(source)
    columns = Columns(task="task", arm="arm", reward="reward", eligible="may")
    log = Log.read(source, columns, batch_rows=batch_rows)
    rows = []
    for batch in log.batches():
        assert batch.eligible.shape[1] == len(batch.names.arms)
        rows += [{batch.names.arms[k] for k in np.flatnonzero(mask)} for mask in batch.eligible]
    assert rows == [set(part) for part in lists]
    assert log.sums().arms == ("b", "a", "c")  # by row, whatever the batches


def test_arms_given_fix_their_order_and_number(tmp_path):
    frame = pl.DataFrame({"task": [7, 8], "arm": [3, 1], "reward": [1.0, 2.0]})
    columns = Columns(task="task", arm="arm", reward="reward")
    for kind in ("polars", "csv"):
        log = Log.read(_source(kind, frame, tmp_path), columns, arms=[1, 2, 3])
        found = log.sums()
        assert found.arms == (1, 2, 3)
        assert found.sums.xy.tolist() == [[0, 0, 1], [2, 0, 0]]
        assert found.tasks == ((7, 8) if kind == "polars" else ("7", "8"))  # a CSV has text alone
        assert found.populations == ("all",)
        assert found.population.tolist() == [0, 0]


def test_arms_may_appear_late():
    frame = pl.DataFrame(
        {"task": ["s"] * 4, "arm": ["a", "b", "a", "z"], "reward": [1.0, 2.0, 3.0, 4.0]}
    )
    columns = Columns(task="task", arm="arm", reward="reward")
    found = Log.read(frame, columns, batch_rows=1).sums()
    assert found.arms == ("a", "b", "z")
    assert found.sums.xx.tolist() == [[2, 1, 1]]
    assert found.sums.xy.tolist() == [[4, 2, 4]]


BAD = {
    "null task": ("task", None, "task must not be missing"),
    "null arm": ("arm", None, "arm must not be missing"),
    "null reward": ("reward", None, "reward must not be missing"),
    "NaN reward": ("reward", np.nan, "reward must (not be missing|be finite)"),
    "infinite reward": ("reward", np.inf, "reward must be finite"),
    "huge reward": ("reward", -1e70, r"reward must be finite and at most 1e\+60 in size"),
    "unknown arm": ("arm", "q", "arm must be one of 'c', 'a', 'b'"),
    "null feature": ("x1", None, "features must not be missing"),
    "NaN feature": ("x1", np.nan, "features must (not be missing|be finite)"),
    "infinite feature": ("x2", -np.inf, "features must be finite"),
    "null propensity": ("p", None, "propensity must not be missing"),
    "zero propensity": ("p", 0.0, r"propensity must be in \(0, 1\]"),
    "large propensity": ("p", 1.5, r"propensity must be in \(0, 1\]"),
    "null id": ("id", None, "decision must not be missing"),
    "same id": ("id", "d3", r"decision must be different in every row \(row 3 has it too\)"),
    "null time": ("when", None, "time must not be missing"),
    "null country": ("country", None, "population must not be missing"),
    "moved task": ("country", "se", "population must stay 'fi' for task 't1'"),
}


def _shown(value, kind):
    """How an error shows a cell: a CSV has its text, pandas has NaN for a missing number."""
    if kind == "csv" and isinstance(value, float):
        return f"'{value}'".replace("nan", "NaN")
    return "(None|nan)" if kind == "pandas" and value in (None, np.nan) else repr(value)


@pytest.mark.parametrize("batch_rows", [BATCH, 10 * ROWS])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BAD)
def test_a_bad_cell_is_named_with_its_row(name, kind, batch_rows, tmp_path):
    column, value, must = BAD[name]
    row = 331
    frame = _rows(np.random.default_rng(3)).with_columns(
        task=pl.Series(["t1" if i == row else f"t{i % 7}" for i in range(ROWS)]),
        country=pl.Series(["fi" if i == row or i % 7 % 2 else "no" for i in range(ROWS)]),
    )
    cells = frame[column].to_list()
    cells[row] = value
    source = _source(kind, frame.with_columns(pl.Series(column, cells)), tmp_path)
    played = {"features": FEATURES} if column[0] == "x" else {"arm": "arm"}
    columns = Columns(
        task="task",
        reward="reward",
        population="country",
        decision="id",
        propensity="p",
        time="when",
        **played,
    )
    arms = ARMS if "arm" in played else None
    log = Log.read(source, columns, arms=arms, batch_rows=batch_rows)
    got = _shown(value, kind).replace("+", r"\+?")
    with pytest.raises(
        ValueError, match=f"^{must}.*, got {got} in column '{column}' at row {row}$"
    ):
        log.sums()


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow", "parquet"])
@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ([1.0, 2.0], "features must be lists of 3 numbers, got [1.0, 2.0] in column 'x'"),
        ([], "features must be lists of 3 numbers, got [] in column 'x'"),
        (None, "features must not be missing, got None in column 'x'"),
        ([1.0, None, 2.0], "features must not be missing, got None in column 'x'"),
        ([1.0, 2.0, np.nan], "features must not be missing, got nan in column 'x'"),
        ([np.inf, 2.0, 1.0], "features must be finite and at most 1e+60 in size, got inf"),
    ],
)
def test_a_ragged_or_broken_list_of_features_is_named_with_its_row(kind, cell, message, tmp_path):
    frame = _rows(np.random.default_rng(4))
    cells = frame["x"].to_list()
    cells[77] = cell
    frame = frame.with_columns(pl.Series("x", cells, dtype=pl.List(pl.Float64)))
    columns = Columns(task="task", features="x", reward="reward")
    log = Log.read(_source(kind, frame, tmp_path), columns, batch_rows=BATCH)
    with pytest.raises(ValueError, match=re.escape(message) + ".* at row 77$"):
        log.sums()


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (["a", "q"], "arm must be one of 'c', 'a', 'b', got 'q' in column 'may' at row 2"),
        (["c", "b"], "arm must be among the eligible arms, got 'a' in column 'arm' at row 2"),
        ([], "eligible must hold at least one arm, got [] in column 'may' at row 2"),
        (None, "eligible must not be missing, got None in column 'may' at row 2"),
        (["a", None], "arm must not be missing, got None in column 'may' at row 2"),
    ],
)
def test_bad_eligible_arms_are_named_with_their_row(cell, message):
    may = [["a"], ["a", "b"], cell, ["a"]]
    frame = pl.DataFrame({"task": [1] * 4, "arm": ["a"] * 4, "reward": [1.0] * 4, "may": may})
    columns = Columns(task="task", arm="arm", reward="reward", eligible="may")
    with pytest.raises(ValueError, match=re.escape(message)):
        Log.read(frame, columns, arms=ARMS, batch_rows=2).sums()


def test_text_is_no_reward(tmp_path):
    columns = Columns(task="task", arm="arm", reward="reward")
    frame = pl.DataFrame({"task": [1, 2], "arm": [1, 1], "reward": ["1.5", "much"]})
    with pytest.raises(ValueError, match=r"reward must be a number, got '1.5' .* at row 0$"):
        Log.read(frame, columns).sums()
    with pytest.raises(ValueError, match=r"reward must be a number, got 'much' .* at row 1$"):
        Log.read(_source("csv", frame, tmp_path), columns).sums()
    pandas = pytest.importorskip("pandas")
    mixed = pandas.DataFrame({"task": [1, 2], "arm": [1, 1], "reward": [1.5, "much"]})
    with pytest.raises(ValueError, match=r"of one kind, got 'much' .*'reward' at row 1$"):
        Log.read(mixed, columns).sums()


def test_names_are_strings_or_integers_throughout():
    columns = Columns(task="task", arm="arm", reward="reward")
    frame = pl.DataFrame({"task": [1.5, 2.0], "arm": [1, 1], "reward": [1, 2]})
    with pytest.raises(ValueError, match=r"task must be a string or an integer, got 1.5 .* row 0$"):
        Log.read(frame, columns).sums()
    frame = frame.with_columns(task=pl.Series(["a", "b"]))
    with pytest.raises(ValueError, match=r"arm must be strings, as the names given, got 1 "):
        Log.read(frame, columns, arms=ARMS).sums()
    pandas = pytest.importorskip("pandas")
    mixed = pandas.DataFrame({"task": [1, "a"], "arm": [1, 1], "reward": [1, 2]}, dtype=object)
    with pytest.raises(ValueError, match=r"task must be integers, .* got 'a' .* at row 1$"):
        Log.read(mixed, columns, batch_rows=1).sums()


def test_categories_and_booleans_are_taken():
    frame = pl.DataFrame(
        {"task": ["u", "v", "u"], "arm": ["a", "b", "a"], "reward": [True, False, True]},
        schema_overrides={"task": pl.Categorical, "arm": pl.Enum(["a", "b"])},
    )
    columns = Columns(task="task", arm="arm", reward="reward")
    found = Log.read(frame, columns, batch_rows=2).sums()
    assert (found.tasks, found.arms) == (("u", "v"), ("a", "b"))
    assert found.sums.xy.tolist() == [[2, 0], [0, 0]]


def test_integers_beyond_64_signed_bits_are_refused():
    frame = pl.DataFrame({"task": [3, 2**63], "arm": [1, 1], "reward": [1, 2]})
    frame = frame.with_columns(pl.col("task").cast(pl.UInt64))
    with pytest.raises(ValueError, match=r"task must be below 2\*\*63, got 9223372036854775808 "):
        Log.read(frame, Columns(task="task", arm="arm", reward="reward")).sums()


def test_an_empty_entry_of_a_csvs_eligible_arms_is_refused(tmp_path):
    (tmp_path / "log.csv").write_text("task,arm,reward,may\ns,a,1,a|b\ns,a,1,a||b\n")
    columns = Columns(task="task", arm="arm", reward="reward", eligible="may")
    with pytest.raises(ValueError, match=r"be arms separated by '\|', got 'a\|\|b' .* at row 1$"):
        Log.read(tmp_path / "log.csv", columns).sums()


def test_many_files_are_one_log(tmp_path):
    frame = _rows(np.random.default_rng(5))
    frame.head(200).write_parquet(tmp_path / "1.parquet")
    frame.tail(300).write_parquet(tmp_path / "2.parquet")
    columns = Columns(task="task", features=FEATURES, reward="reward")
    found = Log.read(str(tmp_path / "*.parquet"), columns, batch_rows=BATCH).sums()
    _assert_same(found.sums, Log.read(frame, columns).sums().sums)


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
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[[16.0, 20.0], [6.0, 8.0]] ['datetime64']\n"


def test_an_id_whose_hash_alone_repeats_is_no_repetition():
    frame = pl.DataFrame({"task": [1] * 3, "arm": [1] * 3, "reward": [1] * 3, "id": [5, 6, 7]})
    log = Log.read(frame, Columns(task="task", arm="arm", reward="reward", decision="id"))
    log._check_decisions("id", np.repeat(frame["id"].hash().to_numpy(), 2))
    assert log.sums().num_rows == 3


def test_what_cannot_be_a_log_is_refused(tmp_path):
    columns = Columns(task="task", arm="arm", reward="reward")
    frame = pl.DataFrame({"task": [1], "arm": [1], "reward": [1]})
    with pytest.raises(ValueError, match="at least one row, got none"):
        Log.read(frame.clear(), columns).sums()
    with pytest.raises(ValueError, match=r"got 'reward' among \['task', 'arm'\]"):
        Log.read(frame.drop("reward"), columns)
    with pytest.raises(ValueError, match="source must be a frame or the path"):
        Log.read([1, 2], columns)
    (tmp_path / "log.txt").write_text("")
    with pytest.raises(ValueError, match=r"must end in .parquet or .csv"):
        Log.read(tmp_path / "log.txt", columns)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        Log.read(tmp_path / "nowhere.csv", columns)
    (tmp_path / "long.csv").write_text("task,arm,reward\n1,1,1\n1,1,1,1,1\n")
    with pytest.raises(ValueError, match="source could not be read"):
        Log.read(tmp_path / "long.csv", columns).sums()
    with pytest.raises(ValueError, match="arms must be distinct"):
        Log.read(frame, columns, arms=[1, 1])
    with pytest.raises(ValueError, match="arms must be distinct strings, or distinct integers"):
        Log.read(frame, columns, arms=[1, "a"])
    with pytest.raises(ValueError, match="one of arm and features must be given"):
        Columns(task="task", reward="reward")
    with pytest.raises(ValueError, match="one of arm and features must be given"):
        Columns(task="task", reward="reward", arm="arm", features="x")
    with pytest.raises(ValueError, match="eligible must come with arm"):
        Columns(task="task", reward="reward", features="x", eligible="may")
    with pytest.raises(ValueError, match="features must name at least one column"):
        Columns(task="task", reward="reward", features=[])
    with pytest.raises(ValueError, match="columns must be named by strings, got 3"):
        Columns(task=3, reward="reward", arm="arm")
    linear = Columns(task="task", reward="reward", features="arm")
    with pytest.raises(ValueError, match=r"features must be a list, got 1 .* at row 0"):
        Log.read(frame, linear).sums()
    with pytest.raises(ValueError, match="arms must come with a column of arms"):
        Log.read(frame, linear, arms=ARMS)
    with pytest.raises(ValueError, match="features of a CSV need a column each"):
        Log.read(_source("csv", frame, tmp_path), linear)


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
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'hierbandits[data]'" in found.stdout
    assert found.stdout.endswith("False False\n")


@pytest.mark.parametrize("sizes", [(1000,), (1, 1, 998), (300, 300, 400)])
def test_the_spread_of_rewards_does_not_cancel(sizes):
    rewards = np.random.default_rng(5).normal(size=1000)
    spread = Spread()
    for part in np.split(rewards + 1e9, np.cumsum(sizes)[:-1]):
        spread.add(part)
    shifted = rewards + 1e9 - 1e9  # exact: what the sum kept of them
    assert spread.count == 1000
    assert spread.mean == pytest.approx(1e9 + shifted.mean(), rel=1e-15)
    assert spread.std == pytest.approx(shifted.std(), rel=1e-6)
    with pytest.raises(ValueError, match="subtract a constant from all rewards first"):
        spread.check()


def test_equal_rewards_and_a_modest_offset_pass():
    for rewards in (np.full(1001, 0.1), np.array([1e4, -1e4, 1.0]), 9e3 + np.array([-1.0, 1.0])):
        spread = Spread()
        spread.add(rewards)
        spread.check()


def test_times_of_a_csv_are_numbers_where_they_are(tmp_path):
    path = tmp_path / "log.csv"
    columns = Columns(task="task", arm="arm", reward="reward", time="when")
    cells = ["9", "10", "1e2", "-3.5"]
    rows = [f"t{i},a,{i}.5,{cell}" for i, cell in enumerate(cells)]
    path.write_text("\n".join(["task,arm,reward,when", *rows]))
    times = [batch.times for batch in Log.read(path, columns, batch_rows=2).batches()]
    np.testing.assert_array_equal(np.concatenate(times), [9.0, 10.0, 100.0, -3.5])
    path.write_text("\n".join(["task,arm,reward,when", *rows, "t,a,1.5,2024-03-14"]))
    with pytest.raises(ValueError, match=r"time must be a number, got '2024-03-14' .* row 4"):
        list(Log.read(path, columns, batch_rows=2).batches())
    path.write_text("task,arm,reward,when\nt,a,1.5,2024-03-14\nt,a,1.5,2024-03-09")
    (batch,) = Log.read(path, columns).batches()
    assert batch.times.tolist() == ["2024-03-14", "2024-03-09"]


def test_a_sample_of_rows_is_uniform_and_the_same_for_any_batches():
    rows = np.arange(10_000).reshape(-1, 2)  # 5,000 rows
    found = []
    for size in (5000, 700, 1):
        sample = RowSample(Stream(3, "some"), 500)
        for start in range(0, 5000 if size > 1 else 600, size):
            sample.add(start, rows[start : start + size])
        found.append(sample.values)
    np.testing.assert_array_equal(found[0], found[1])
    assert len({tuple(row) for row in found[0].tolist()}) == 500
    assert len(found[2]) == 500
    assert abs(found[0][:, 0].mean() / 2 - 2500) < 5 * 5000 / np.sqrt(12 * 500)
