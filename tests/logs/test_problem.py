"""Problems as people read them."""

import pytest

from hierbandits.logs.problem import Problem


@pytest.mark.parametrize(
    ("rows", "count", "where"),
    [
        ((), 0, ""),
        ((3,), 1, "row 3"),
        ((3, 1000), 2, "rows 3, 1,000"),
        ((3, 4), 1002, "rows 3, 4 and 1,000 more"),
    ],
)
def test_rows_are_told(rows, count, where):
    assert Problem(stops=True, finding="f", rows=rows, count=count).where == where


def test_a_problem_is_a_line_and_plain_data():
    problem = Problem(
        stops=True, column="y", role="reward", finding="2 cells are missing", rows=(1, 5), count=2,
        effect="So what.", remedy="--drop-missing.", fix={"drop_missing": True},
    )  # fmt: skip
    line = "reward, column 'y': 2 cells are missing (rows 1, 5). So what. --drop-missing."
    assert str(problem) == line
    assert problem.to_dict() == {
        "stops": True, "column": "y", "role": "reward", "finding": "2 cells are missing",
        "count": 2, "rows": [1, 5], "effect": "So what.", "remedy": "--drop-missing.",
        "fix": {"drop_missing": True},
    }  # fmt: skip
    assert str(Problem(stops=False, finding="an odd log")) == "an odd log."
    assert str(Problem(stops=False, finding="they are in", rows=(7,), count=1)) == (
        "they are in row 7."
    )
