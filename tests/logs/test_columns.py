"""Which column holds what."""

import pytest

from hierbandits.logs import Columns
from hierbandits.logs.columns import check_columns


def test_every_column_is_read_once():
    columns = Columns(task="t", reward="r", features=["x", "t"], population="p", time="x")
    assert columns.names == ["t", "r", "x", "p"]
    assert columns.features == ("x", "t")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "one of arm and features must be given"),
        ({"arm": "arm", "features": ["x", "x"]}, "arm and features must be different columns"),
        ({"arm": "arm", "features": ["arm"]}, "arm and features must be different columns"),
        ({"features": "x", "eligible": "may"}, "eligible must come with arm"),
        ({"features": []}, "features must name at least one column"),
        ({"arm": "arm", "task": 3}, "task must be a column's name, a string, got 3"),
        (
            {"arm": "arm", "task": ["store"]},
            r"task must be a column's name, a string, got \['store'\]",
        ),
        ({"features": ["x", "reward"]}, "reward must have a column of its own, got one for reward"),
        ({"arm": "arm", "time": "reward"}, "reward must have a column of its own"),
        ({"arm": "arm", "propensity": "arm"}, "propensity must have a column of its own"),
        ({"arm": "task"}, "task and arm must be different columns, got 'task'"),
        ({"arm": "arm", "population": "task"}, "task and population must be different columns"),
    ],
)
def test_columns_that_contradict_each_other_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Columns(**({"task": "task", "reward": "reward"} | change))


def test_a_column_that_is_missing_is_named_with_the_one_that_may_be_meant():
    check_columns(["store", "sales"], ["store", "promo", "sales"])
    with pytest.raises(ValueError, match=r"in the log, got 'store', .*: did you mean ' Store '\?"):
        check_columns(["store"], [" Store ", "promo"])
    with pytest.raises(ValueError, match=r"got 'zebra', not among \['store'\]$"):
        check_columns(["zebra"], ["store"])
    with pytest.raises(ValueError, match="each occur once, got 'store' among"):
        check_columns(["store"], ["store", "store"])
    many = [f"column {i}" for i in range(500)]
    with pytest.raises(ValueError, match="and 480 more") as caught:
        check_columns(["zebra"], many)
    assert len(str(caught.value)) < 500
