"""Frames become batches of plain arrays."""

import numpy as np
import polars as pl
import pytest
from support.log_sources import ARMS, BATCH, KINDS, as_source, full_frame

from hierbandits.logs import Columns, Log


@pytest.mark.parametrize("kind", KINDS)
def test_batches_hold_every_row_in_order(kind, tmp_path):
    frame = full_frame(np.random.default_rng(2))
    columns = Columns(
        task="task",
        arm="arm",
        reward="reward",
        population="country",
        decision="id",
        propensity="p",
        time="when",
    )
    log = Log.read(as_source(kind, frame, tmp_path), columns, arms=ARMS, batch_rows=BATCH)
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
    source = as_source(kind, frame, tmp_path)
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


def test_times_of_a_csv_are_numbers_where_they_are(tmp_path):
    path = tmp_path / "log.csv"
    columns = Columns(task="task", arm="arm", reward="reward", time="when")
    cells = ["9", "10", "1e2", "-3.5"]
    rows = [f"t{i},a,{i}.5,{cell}" for i, cell in enumerate(cells)]
    path.write_text("\n".join(["task,arm,reward,when", *rows]))
    times = [batch.times for batch in Log.read(path, columns, batch_rows=2).batches()]
    np.testing.assert_array_equal(np.concatenate(times), [9.0, 10.0, 100.0, -3.5])
    path.write_text("\n".join(["task,arm,reward,when", *rows, "t,a,1.5,2024-03-14"]))
    with pytest.raises(ValueError, match=r"as those before it, got '2024-03-14' .* row 4"):
        list(Log.read(path, columns, batch_rows=2).batches())
    path.write_text("task,arm,reward,when\nt,a,1.5,2024-03-14\nt,a,1.5,2024-03-09")
    (batch,) = Log.read(path, columns).batches()
    assert batch.times.astype("M8[D]").astype(str).tolist() == ["2024-03-14", "2024-03-09"]


def test_a_batch_knows_its_rows_and_its_size():
    frame = full_frame(np.random.default_rng(6))
    named = {"task": "task", "reward": "reward"}
    armed = Log.read(frame, Columns(arm="arm", **named), batch_rows=BATCH)
    linear = Log.read(frame, Columns(features="x", **named), batch_rows=BATCH)
    for log, is_armed in ((armed, True), (linear, False)):
        first, second, *_ = log.batches()
        assert (second.num_rows, second.is_armed, second.dim) == (BATCH, is_armed, 3)
        np.testing.assert_array_equal(second.numbers, np.arange(BATCH, 2 * BATCH))
        assert first.numbers[0] == 0
