"""Columns of a context: their cells, and what becomes of them."""

import json

import numpy as np
import polars as pl
import pytest

from hierbandits.logs.context_column import (
    UNSEEN,
    CategoryColumn,
    NumberColumn,
    column_from_dict,
)

AGE = NumberColumn("age", 40.0, 8.0)
CITY = CategoryColumn("city", ("Köln", "北京"), (0.75, 0.25))
VIP = CategoryColumn("vip", (False, True), (0.9, 0.1))


@pytest.mark.parametrize(
    ("column", "values", "coded"),
    [
        (AGE, [40, 48.0, np.float32(24)], [[0.0], [1.0], [-2.0]]),
        (CITY, ["Köln", "北京", "Ulm"], [[-0.25], [0.75], [0.0]]),
        (VIP, [False, True, np.True_], [[-0.1], [0.9], [0.9]]),
    ],
)
def test_values_are_coded_alike_alone_and_in_a_table(column, values, coded):
    alone = np.array([column.cell(value) for value in values])
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    kind = pl.Float64 if column is AGE else None
    table = column.cells(pl.Series(column.name, plain, dtype=kind), range(3), None)
    np.testing.assert_array_equal(alone, table)
    np.testing.assert_array_equal(column.coded(alone), coded)
    known = [None if cell == UNSEEN else value for cell, value in zip(alone, plain, strict=True)]
    assert [column.value(cell) for cell in alone.tolist()] == known


def test_the_text_of_a_csv_file_is_read():
    ages = AGE.cells(pl.Series("age", ["31", "4.5e1"]), range(2), ".")
    assert ages.tolist() == [31.0, 45.0]
    assert AGE.cells(pl.Series("age", ["31,5"]), range(1), ",").tolist() == [31.5]
    vips = VIP.cells(pl.Series("vip", ["true", "False"]), range(2), ".")
    assert vips.tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match=r"context must be true or false, got 'yes' in .* row 7"):
        VIP.cells(pl.Series("vip", ["true", "yes"]), range(6, 8), ".")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (AGE, None, "context must have a number as the value of 'age', got None"),
        (AGE, "31", "context must have a number as the value of 'age', got '31'"),
        (AGE, True, "context must have a number as the value of 'age', got True"),
        (AGE, float("nan"), "context must have a value of at most .* for 'age', got nan"),
        (AGE, 10**400, "context must have a value of at most"),
        (CITY, 3, "context must have text as the value of 'city', got 3"),
        (CITY, None, "context must have text as the value of 'city', got None"),
        (VIP, 1, "context must have True or False as the value of 'vip', got 1"),
    ],
)
def test_values_of_another_kind_are_refused(column, value, message):
    with pytest.raises(ValueError, match=message):
        column.cell(value)


@pytest.mark.parametrize(
    ("column", "cells", "message"),
    [
        (AGE, [31.0, None], r"context must not be missing, got None in column 'age' at row 6"),
        (AGE, ["a", "b"], r"context must be a number, got 'a' in column 'age' at row 5"),
        (AGE, [True, False], r"context must be a number, as in the log, got True .* row 5"),
        (CITY, ["Köln", None], r"context must not be missing, got None in column 'city' at row 6"),
        (CITY, [1, 2], r"context must be text, got 1 in column 'city' at row 5"),
        (VIP, ["true", "false"], r"context must be booleans, got 'true' in column 'vip' at row 5"),
    ],
)
def test_cells_of_another_kind_are_refused_with_their_row(column, cells, message):
    with pytest.raises(ValueError, match=message):
        column.cells(pl.Series(column.name, cells), range(5, 7), None)


@pytest.mark.parametrize("column", [AGE, CITY, VIP])
def test_a_column_comes_back_from_json(column):
    assert column_from_dict(json.loads(json.dumps(column.to_dict()))) == column


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"name": "age", "mean": 1.0, "std": 0.0}, "std must be positive, got 0.0 for 'age'"),
        ({"name": "age", "mean": float("nan"), "std": 1.0}, "must be finite numbers, got nan"),
        ({"name": "age", "mean": "1", "std": 1.0}, "must be finite numbers, got '1'"),
        ({"name": 3, "mean": 1.0, "std": 1.0}, "name must be a column's name, a string, got 3"),
        ({"name": "age", "mean": 1.0}, "columns must be those of an encoder"),
        ("age", "columns must be those of an encoder, got 'age'"),
        ({"name": "c", "values": "ab", "shares": [0.5, 0.5]}, "lists of at least two values"),
        ({"name": "c", "values": ["a"], "shares": [1.0]}, "lists of at least two values"),
        (
            {"name": "c", "values": ["a", 1], "shares": [0.5, 0.5]},
            "all of them text or all booleans",
        ),
        ({"name": "c", "values": ["a", "a"], "shares": [0.5, 0.5]}, "values must be distinct"),
        (
            {"name": "c", "values": ["a", "b"], "shares": [0.5, 0.6]},
            "shares must be one for each value, and sum to one",
        ),
        (
            {"name": "c", "values": ["a", "b"], "shares": [0.5, 0.3, 0.2]},
            "shares must be one for each value",
        ),
    ],
)
def test_what_is_no_column_is_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        column_from_dict(parts)
