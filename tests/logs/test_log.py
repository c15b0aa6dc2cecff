"""Logs: every kind of source gives the same sums."""

import numpy as np
import polars as pl
import pytest
from support.log_sources import (
    ARMS,
    BATCH,
    FEATURES,
    KINDS,
    ROWS,
    as_source,
    assert_same_sums,
    full_frame,
)

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.logs import Columns, Log, Reading


def _first_seen(values):
    return tuple(dict.fromkeys(values))


def _expected(frame, features, names, dim, armed):
    sums = TaskSums.zeros(len(names), dim, armed=armed)
    sums.add([names.index(task) for task in frame["task"]], features, frame["reward"].to_numpy())
    return sums


@pytest.mark.parametrize("batch_rows", [1, BATCH, 10 * ROWS])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_those_of_thefull_frame(kind, batch_rows, tmp_path):
    """Row by row, in batches and as a whole, and to the last digit."""
    frame = full_frame(np.random.default_rng(0))
    tasks = _first_seen(frame["task"])
    source = as_source(kind, frame, tmp_path)
    names = {"task": "task", "reward": "reward", "population": "country"}
    linear = Log.read(source, Columns(features=FEATURES, **names), batch_rows=batch_rows).sums()
    x = frame.select(FEATURES).to_numpy()
    assert_same_sums(linear.sums, _expected(frame, x, tasks, 3, armed=False))
    armed = Log.read(source, Columns(arm="arm", **names), batch_rows=batch_rows).sums()
    arms = _first_seen(frame["arm"])
    played = [arms.index(arm) for arm in frame["arm"]]
    assert_same_sums(armed.sums, _expected(frame, played, tasks, 3, armed=True))
    assert linear.tasks == armed.tasks == tasks
    assert (linear.arms, armed.arms) == (None, arms)
    assert linear.num_rows == armed.num_rows == ROWS
    assert linear.populations == _first_seen(frame["country"])
    for task, place in zip(linear.tasks, linear.population, strict=True):
        assert linear.populations[place] == ("no", "fi")[int(task[1:]) % 2]


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow", "parquet"])
def test_a_column_of_lists_is_as_good_as_a_column_for_each_feature(kind, tmp_path):
    frame = full_frame(np.random.default_rng(1))
    lists = frame.with_columns(pl.col("x").arr.to_list())
    apart = Log.read(frame, Columns(task="task", features=FEATURES, reward="reward")).sums()
    for form in (frame, lists):
        source = as_source(kind, form, tmp_path)
        columns = Columns(task="task", features="x", reward="reward")
        assert_same_sums(Log.read(source, columns, batch_rows=BATCH).sums().sums, apart.sums)


def test_arms_may_appear_late():
    frame = pl.DataFrame(
        {"task": ["s"] * 4, "arm": ["a", "b", "a", "z"], "reward": [1.0, 2.0, 3.0, 4.0]}
    )
    columns = Columns(task="task", arm="arm", reward="reward")
    past = Log.read(frame, columns, batch_rows=1).sums()
    assert past.arms == ("a", "b", "z")
    assert past.sums.xx.tolist() == [[2, 1, 1]]
    assert past.sums.xy.tolist() == [[4, 2, 4]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_that_are_read_are_a_frame(kind, tmp_path):
    pytest.importorskip("pandas")
    frame = full_frame(np.random.default_rng(7)).with_columns(
        arm=pl.when(pl.int_range(ROWS) % 3 == 0).then(None).otherwise(pl.col("arm"))
    )
    log = Log.read(
        as_source(kind, frame, tmp_path),
        Columns(task="task", arm="arm", reward="reward"),
        reading=Reading(drop_missing=True),
        batch_rows=BATCH,
    )
    read = log.frame()
    assert read.columns == ["row", "task", "reward", "arm"]
    assert read["row"].to_list() == [row for row in range(ROWS) if row % 3]
    assert read["arm"].to_list() == frame["arm"].drop_nulls().to_list()
    assert log.to_pandas()["task"].tolist() == read["task"].to_list()
    assert log.sums().num_rows == read.height


def test_many_files_are_one_log(tmp_path):
    frame = full_frame(np.random.default_rng(5))
    frame.head(200).write_parquet(tmp_path / "1.parquet")
    frame.tail(300).write_parquet(tmp_path / "2.parquet")
    columns = Columns(task="task", features=FEATURES, reward="reward")
    past = Log.read(str(tmp_path / "*.parquet"), columns, batch_rows=BATCH).sums()
    assert_same_sums(past.sums, Log.read(frame, columns).sums().sums)


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
    with pytest.raises(ValueError, match=r"got 'reward', not among \['task', 'arm'\]"):
        Log.read(frame.drop("reward"), columns)
    with pytest.raises(
        ValueError,
        match="source must be a frame, a mapping of columns, a list of rows, or the path",
    ):
        Log.read([1, 2], columns)
    (tmp_path / "log.txt").write_text("")
    with pytest.raises(ValueError, match=r"must end in .parquet or .csv"):
        Log.read(tmp_path / "log.txt", columns)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        Log.read(tmp_path / "nowhere.csv", columns)
    (tmp_path / "long.csv").write_text("task,arm,reward\n1,1,1\n1,1,1,1,1\n")
    with pytest.raises(ValueError, match=r"source '.*long.csv' could not be read"):
        Log.read(tmp_path / "long.csv", columns).sums()
    with pytest.raises(ValueError, match="arms must be distinct"):
        Log.read(frame, columns, arms=[1, 1])
    with pytest.raises(ValueError, match="arms must be distinct strings, or distinct integers"):
        Log.read(frame, columns, arms=[1, "a"])
    with pytest.raises(ValueError, match="one of arm and features must be given"):
        Columns(task="task", reward="reward")
    with pytest.raises(ValueError, match="eligible must come with arm"):
        Columns(task="task", reward="reward", features="x", eligible="may")
    with pytest.raises(ValueError, match="features must name at least one column"):
        Columns(task="task", reward="reward", features=[])
    with pytest.raises(ValueError, match="task must be a column's name, a string, got 3"):
        Columns(task=3, reward="reward", arm="arm")
    linear = Columns(task="task", reward="reward", features="arm")
    with pytest.raises(ValueError, match=r"features must be a list, got 1 .* at row 0"):
        Log.read(frame, linear).sums()
    with pytest.raises(ValueError, match="arms must come with a column of arms"):
        Log.read(frame, linear, arms=ARMS)
    with pytest.raises(ValueError, match="features of a CSV need a column each"):
        Log.read(as_source("csv", frame, tmp_path), linear)


@pytest.mark.parametrize(
    ("columns", "arms", "message"),
    [
        ({"task": "task", "reward": None}, None, "task must not be given with a Log, got 'task'"),
        ({"task": None, "reward": "r"}, None, "reward must not be given with a Log, got 'r'"),
        ({"task": None, "reward": None}, ["a"], r"arms must not be given with a Log, got \['a'\]"),
    ],
)
def test_a_log_that_is_given_has_its_columns_already(columns, arms, message):
    log = Log.read(
        full_frame(np.random.default_rng(0)), Columns(task="task", arm="arm", reward="p")
    )
    with pytest.raises(ValueError, match=message):
        Log.of(log, columns, arms)
    assert Log.of(log, {"task": None, "reward": None}) is log


def test_a_source_that_is_given_needs_its_columns():
    frame = full_frame(np.random.default_rng(0))
    named = {"task": "task", "reward": "reward", "arm": "arm", "propensity": "p"}
    log = Log.of(frame, named, ARMS)
    assert (log.columns, log.arms) == (Columns(**named), ARMS)
    for missing in ("task", "reward"):
        with pytest.raises(ValueError, match="task and reward must name columns, got "):
            Log.of(frame, named | {missing: None})
    with pytest.raises(ValueError, match="one of arm and features must be given, got None"):
        Log.of(frame, named | {"arm": None})


@pytest.mark.parametrize("arms", ["ab", {"a", "b"}])
def test_arms_that_have_no_order_are_refused(arms):
    frame = pl.DataFrame({"s": [1, 2], "arm": ["a", "b"], "y": [0.0, 1.0]})
    with pytest.raises(ValueError, match="arms must be a sequence of names"):
        Log.read(frame, Columns(task="s", arm="arm", reward="y"), arms=arms)
