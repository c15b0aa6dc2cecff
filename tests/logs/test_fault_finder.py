"""All bad cells are found, and rows that can be counted are told apart from them."""

import numpy as np
import polars as pl
import pytest

import hierbandits as hb
from hierbandits.logs.fault_finder import FaultFinder


def _found(frame, columns, *, arms=None, text=False):
    finder = FaultFinder(hb.Columns(**columns), arms, text, hb.Reading())
    good = finder.good(pl.DataFrame(frame, strict=False), np.arange(len(frame["s"])))
    faults = {(f.role, f.must): f.rows for f in finder.faults.all}
    return np.flatnonzero(good).tolist(), faults


NAMED = {"task": "s", "reward": "y"}


def test_every_fault_of_a_frame_is_found():
    frame = {
        "s": ["a", None, "c", "d", "e", "f"],
        "k": ["x", "x", "q", "x", "x", "x"],
        "y": [1.0, 2.0, 3.0, np.nan, 1e70, np.inf],
        "p": [0.5, 0.5, 0.0, 1.5, None, 1.0],
    }
    good, faults = _found(frame, NAMED | {"arm": "k", "propensity": "p"}, arms=["x", "y"])
    assert good == [0]
    assert faults == {
        ("task", "not be missing"): [1],
        ("arm", "be one of the arms given"): [2],
        ("reward", "not be missing"): [3],
        ("reward", "be finite and at most 1e+60 in size"): [4, 5],
        ("propensity", "be in (0, 1]"): [2, 3],
        ("propensity", "not be missing"): [4],
    }


def test_lists_are_looked_into():
    frame = {
        "s": ["a"] * 6,
        "x": [[1.0, 2.0], [1.0], [], [1.0, None], None, [np.inf, 1.0]],
        "y": [1.0] * 6,
    }
    good, faults = _found(frame, NAMED | {"features": "x"})
    assert good == [0]
    assert faults == {
        ("features", "not be missing"): [3, 4],
        ("features", "be lists of 2 numbers"): [1, 2],
        ("features", "be finite and at most 1e+60 in size"): [5],
    }
    _, faults = _found({**frame, "x": [["a"]] * 6}, NAMED | {"features": "x"})
    assert faults == {("features", "be lists of numbers"): [0, 1, 2, 3, 4]}
    _, faults = _found({**frame, "x": ["a"] * 6}, NAMED | {"features": "x"})
    assert faults == {("features", "be a list"): [0, 1, 2, 3, 4]}


def test_eligible_arms_are_compared_with_those_played():
    frame = {
        "s": ["a"] * 5,
        "k": ["x", "x", "z", "x", "x"],
        "y": [1.0] * 5,
        "may": [["x", "y"], [], ["x"], None, ["x", None]],
    }
    named = NAMED | {"arm": "k", "eligible": "may"}
    good, faults = _found(frame, named)
    assert faults == {
        ("eligible", "not be missing"): [3, 4],
        ("eligible", "hold at least one arm"): [1],
        ("arm", "be among the eligible arms"): [2],
    }
    assert good == [0, 1, 3, 4]  # rows are counted by their arms
    _, faults = _found({**frame, "may": [["x", "w"]] * 5}, named, arms=["x", "z"])
    assert faults[("eligible", "hold the arms given")] == [0, 1, 2, 3, 4]
    _, faults = _found({**frame, "may": [[1]] * 5}, named)
    assert faults == {("eligible", "hold names as the arms are"): [0, 1, 2, 3, 4]}
    text = {**frame, "y": ["1"] * 5, "may": ["x|y", "x||y", "x", None, "x"]}
    _, faults = _found(text, named, text=True)
    assert faults[("eligible", "be arms separated by '|'")] == [1]


@pytest.mark.parametrize(
    ("cells", "must"),
    [
        ([0.5, 1.5], "be a string or an integer"),
        (pl.Series([1, 2**63], dtype=pl.UInt64), "be below 2**63"),
    ],
)
def test_columns_that_hold_no_names(cells, must):
    good, faults = _found({"s": cells, "k": ["x", "y"], "y": [1.0, 2.0]}, NAMED | {"arm": "k"})
    assert ("task", must) in faults
    assert good == ([] if isinstance(cells, list) else [0])


def test_kinds_of_names_are_compared_through_batches():
    finder = FaultFinder(hb.Columns(task="s", arm="k", reward="y"), [1, 2], False, hb.Reading())
    frame = pl.DataFrame({"s": ["a"], "k": ["1"], "y": ["1"]})
    assert not finder.good(frame, np.array([0])).any()
    finder.good(pl.DataFrame({"s": [7], "k": [1], "y": [1]}), np.array([1]))
    musts = {(fault.role, fault.must): fault.rows for fault in finder.faults.all}
    assert musts == {
        ("arm", "be integers, as the names given"): [0],
        ("reward", "be a number"): [0],
        ("task", "be strings, as those before it"): [1],
    }


def test_names_are_compared_by_their_looks_if_they_are_merged():
    rows = {"s": ["a", "A", "b"], "k": ["none", "NONE", "Bogo"], "y": [1.0, 2.0, 3.0]}
    rows["may"] = [["none"], ["none", "bogo"], ["bogo", "NONE"]]
    roles = {"task": "s", "arm": "k", "reward": "y", "eligible": "may"}
    merged = hb.Reading(merge_names=True)
    for arms in (None, ["none", "bogo"]):
        assert not hb.inspect(rows, **roles, arms=arms).is_sound
        inspection = hb.inspect(rows, **roles, arms=arms, reading=merged)
        assert inspection.problems == ()
        log = hb.Log.read(rows, hb.Columns(**roles), arms=arms, reading=merged)
        (batch,) = log.batches()
        assert batch.eligible.tolist() == [[True, False], [True, True], [True, True]]
        assert (log.sums().tasks, log.sums().arms) == (("a", "b"), ("none", "bogo"))
    assert not hb.inspect(rows, **roles, arms=["none", "flyer"], reading=merged).is_sound
