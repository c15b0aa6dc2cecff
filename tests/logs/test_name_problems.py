"""Names that look alike, and columns that cannot be what they are said to be."""

import numpy as np
import pytest

from hierbandits.logs.name_problems import MOST_NAMES, alike, name_problems


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["a", "A", "b", " a", "b\u00a0"], [[0, 1, 3], [2, 4]]),
        (["new  york", "New York"], [[0, 1]]),
        (["ﬁx", "fix", "straße", "STRASSE"], [[0, 1], [2, 3]]),
        (["é", "e\u0301", "e"], [[0, 1]]),
        ([1, 11, 111], []),
        (["a", "b"], []),
    ],
)
def test_names_that_look_the_same_are_found(names, groups):
    assert alike(names) == groups


def test_a_million_names_are_not_compared():
    names = [str(place) for place in range(MOST_NAMES)] + ["0 "]
    assert alike(names) == []
    assert alike(names[1:]) == []
    assert alike([*names[2:], "0"]) == [[MOST_NAMES - 2, MOST_NAMES - 1]]


def _found(what, names, counts, firsts=None):
    firsts = np.arange(len(names)) if firsts is None else np.array(firsts)
    return name_problems(what, "c", names, np.array(counts), firsts)


def test_rows_are_those_of_the_rarer_spellings():
    (spaces, case) = _found("arm", ["x", "x ", "y", "Y"], [5, 9, 3, 1], [4, 2, 0, 77])
    assert (spaces.rows, spaces.count, spaces.fix) == ((4,), 5, {"strip": True})
    assert "'x' (5 rows) and 'x ' (9 rows)" in spaces.finding
    assert (case.rows, case.count, case.fix) == ((77,), 1, {})
    assert spaces.effect == "Each spelling counts as an arm of its own."


def test_an_arm_that_was_listed_and_never_played_has_no_row():
    (case,) = _found("arm", ["y", "Y"], [3, 0], [0, -1])
    assert (case.rows, case.count) == ((), 0)


def test_many_tasks_and_many_arms():
    assert _found("task", list(range(1000)), [3] * 1000) == []
    (rows,) = _found("task", list(range(1000)), [1] * 1000)
    assert rows.finding.startswith("1,000 tasks in 1,000 rows")
    assert _found("arm", list(range(1000)), [1] * 1000) == []
    (arms,) = _found("arm", list(range(1001)), [2] * 1001)
    assert arms.finding == "1,001 arms, with 2.0 rows each on average"
    (empty,) = _found("task", ["a", ""], [3, 4], [0, 5])
    (long,) = _found("arm", ["a", "x" * 1001, "y" * 1000], [3, 4, 5])
    assert (long.stops, long.rows, long.count) == (True, (1,), 4)
    assert (empty.finding, empty.rows, empty.count) == (
        "there is a task whose name is empty", (5,), 4
    )  # fmt: skip
