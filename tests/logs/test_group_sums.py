"""Sums of the tasks, apart for each group of rows."""

import numpy as np
import polars as pl
import pytest
from support.learn_logs import CLOSE, FORMS, drawn, sums_of

from hierbandits.logs import Columns, GroupSums, Limits, Log, Split


@pytest.mark.parametrize(("armed", "populations"), FORMS)
@pytest.mark.parametrize("batch_rows", [7, 10_000])
def test_one_pass_gives_the_sums_of_both_parts(armed, populations, batch_rows):
    rows = drawn(1, armed=armed, populations=populations, tasks=30)
    split, gathered = Split.held_out(0.25, 3), GroupSums(2)
    for batch in rows.log(batch_rows=batch_rows).batches():
        gathered.add(batch, split.groups(batch.numbers))
    held = split.groups(np.arange(rows.task.size)) == 1
    for sums, keep in (
        (gathered.of([0]), ~held),
        (gathered.of([1]), held),
        (gathered.of([1, 0]), slice(None)),
        (gathered.total(), slice(None)),
    ):
        expected = sums_of(rows, keep)
        for part in ("xx", "xy", "yy", "n"):
            np.testing.assert_allclose(getattr(sums, part), getattr(expected, part), **CLOSE)


def test_a_group_without_rows_has_sums_of_zero():
    rows, gathered = drawn(1, armed=True), GroupSums(3)
    for batch in rows.log().batches():
        gathered.add(batch, np.zeros(batch.num_rows, int))
    assert gathered.of([2]).n.tolist() == [0.0] * len(rows.theta)
    assert gathered.of([0, 2]).n.sum() == rows.task.size


@pytest.mark.parametrize("column", ["task", "arm"])
@pytest.mark.parametrize("row", [0, 5])
def test_names_that_are_too_long_are_refused_in_any_batch(column, row):
    names = {name: [f"{name}{i}" for i in range(6)] for name in ("task", "arm")}
    names[column][row] = "x" * 70_000
    log = Log.read(
        pl.DataFrame({**names, "reward": range(6)}),
        Columns(task="task", arm="arm", reward="reward"),
        batch_rows=2,
    )
    with pytest.raises(ValueError, match=rf"{column} must have at most 1,000 .*got 70,000"):
        log.sums()
    assert log.sums(Limits(name_length=70_000)).sums.n.sum() == 6
