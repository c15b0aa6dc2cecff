"""Tables as text."""

import pytest

from hierbandits.reporting.text_table import text_table

COLUMNS = ["policy", "arm", "regret"]
ROWS = [["HierTS", "a", "1.5"], ["TS", "long name", "10,000.25"]]


def test_numbers_stand_to_the_right_below_their_columns():
    assert text_table(COLUMNS, ROWS).splitlines() == [
        "policy        arm     regret",
        "HierTS          a        1.5",
        "TS      long name  10,000.25",
    ]


def test_as_many_columns_stand_to_the_left_as_are_asked_for():
    assert text_table(COLUMNS, ROWS, left=2).splitlines() == [
        "policy  arm           regret",
        "HierTS  a                1.5",
        "TS      long name  10,000.25",
    ]
    assert text_table(COLUMNS, ROWS, left=0).splitlines()[2] == "    TS  long name  10,000.25"
    assert text_table(COLUMNS, ROWS, left=3).splitlines()[1] == "HierTS  a          1.5"


def test_no_line_ends_in_spaces():
    assert text_table(["a", "b"], [["long", ""], ["", ""]]) == "a     b\nlong\n"


def test_a_table_without_rows_is_its_columns():
    assert text_table(["a", "bb"], []) == "a  bb"


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="zip"):
        text_table(["a", "b"], [["c"]])
