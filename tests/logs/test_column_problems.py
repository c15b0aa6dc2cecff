"""Odd columns and rows, from profiles and hashes."""

import numpy as np
import polars as pl

import hierbandits as hb
from hierbandits.logs.column_problems import column_problems, repeat_problems
from hierbandits.logs.column_profile import ColumnProfiler
from hierbandits.logs.repeats import Repeat, Repeats


def _found(frame, columns=None):
    frame, profiles = pl.DataFrame(frame), []
    for series in frame:
        profiler = ColumnProfiler(series.name, ".")
        profiler.add(series, np.arange(series.len()))
        profiles.append(profiler.profile())
    return column_problems(profiles, frame.hash_rows().to_numpy(), columns)


def test_a_task_or_an_arm_that_never_differs_is_no_task_and_no_arm():
    frame = {"s": ["a"] * 3, "k": ["x"] * 3, "y": [1, 2, 3], "c": [0] * 3}
    problems = _found(frame, hb.Columns(task="s", arm="k", reward="y"))
    assert [(p.role, p.column) for p in problems] == [("task", "s"), ("arm", "k"), (None, None)]
    assert problems[2].finding == "columns that hold one value: 'c'"
    (one,) = _found(frame)
    assert one.finding == "columns that hold one value: 's', 'k', 'c'"


def test_copies_matter_where_a_column_tells_rows_apart():
    few = {"k": ["x", "y"] * 10, "y": [0, 1] * 10}  # clicks repeat by nature
    assert _found(few) == []
    ids = {**few, "id": [f"d{i}" for i in range(18)] + ["d3", "d0"]}
    ids["k"][18], ids["k"][19] = ids["k"][3], ids["k"][0]
    ids["y"][18], ids["y"][19] = ids["y"][3], ids["y"][0]
    (copies,) = _found(ids)
    assert (copies.rows, copies.count, copies.stops) == ((18, 19), 2, False)
    assert "--decision=id" in copies.remedy
    named = hb.Columns(task="k", arm="id", reward="y", decision="id")
    assert _found(ids, named) == []  # its ids are looked at


def test_spaces_are_told_where_nothing_is_known_of_roles():
    frame = {"k": ["a ", "b", "c"], "y": [1, 2, 3]}
    (spaces,) = _found(frame)
    assert (spaces.rows, spaces.fix) == ((0,), {"strip": True})
    assert _found(frame, hb.Columns(task="k", features=["y"], reward="z")) == []


def test_ids_that_repeat():
    shown = (Repeat(4, 1, "a", True), Repeat(6, 2, "b", False))
    repeats = Repeats(np.array([4, 5]), np.array([6]), shown)
    copies, conflicts = repeat_problems(repeats, "id", dropped=False)
    assert (copies.rows, copies.fix) == ((4, 5), {"drop_repeated": True})
    assert "'b' in 2 and 6" in conflicts.finding
    assert repeat_problems(repeats, "id", dropped=True)[0].finding == conflicts.finding
