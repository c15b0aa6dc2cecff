"""The names that are met in a log."""

import polars as pl

from hierbandits.logs import Log
from hierbandits.logs.names import Names


def test_names_grow_batch_by_batch_and_each_task_has_its_population():
    frame = pl.DataFrame(
        {"task": ["u", "v", "u", "w"], "arm": [1, 2, 1, 3], "reward": 1.0, "land": list("abaa")}
    )
    named = {"task": "task", "reward": "reward", "arm": "arm", "population": "land"}
    log = Log.read(frame, Log.of(frame, named).columns, batch_rows=2)
    met = []
    for batch in log.batches():
        names = batch.names
        met.append((list(names.tasks), list(names.arms), names.population.tolist()))
    assert met == [(["u", "v"], [1, 2], [0, 1]), (["u", "v", "w"], [1, 2, 3], [0, 1, 0])]
    assert names.populations == ["a", "b"]


def test_arms_that_are_given_stay_the_callers_own():
    given = ["b", "a"]
    names = Names(given)
    names.arms.append("c")
    assert (names.arms, given) == (["b", "a", "c"], ["b", "a"])
