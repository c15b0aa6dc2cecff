"""What a column of the context is, learned from its cells."""

import numpy as np
import polars as pl
import pytest

from hierbandits.logs.column_fit import MOST_VALUES, ColumnFit
from hierbandits.logs.context_column import CategoryColumn, NumberColumn


def fitted(*batches, decimal=None):
    fit, start = ColumnFit("x", decimal), 0
    for cells in batches:
        fit.add(pl.Series("x", cells), range(start, start + len(cells)))
        start += len(cells)
    return fit.column()


def test_numbers_have_the_mean_and_the_std_of_all_rows():
    values = np.random.default_rng(0).normal(1e6, 3.0, 50)
    column = fitted(values[:7].tolist(), values[7:].tolist())
    assert isinstance(column, NumberColumn)
    assert column.mean == pytest.approx(values.mean(), rel=1e-14)
    assert column.std == pytest.approx(values.std(), rel=1e-9)
    z = column.coded(values)
    assert abs(z.mean()) < 1e-9
    assert z.std() == pytest.approx(1.0)


def test_values_are_in_order_of_their_frequency_and_then_of_their_names():
    column = fitted(["b", "é"], ["c", "a", "é", "é"])
    assert column == CategoryColumn("x", ("é", "a", "b", "c"), (0.5, 1 / 6, 1 / 6, 1 / 6))
    assert fitted([True, True, False]).values == (True, False)


def test_coded_values_are_zero_on_average():
    cells = ["a"] * 5 + ["b"] * 3 + ["c"] * 2
    column = fitted(cells)
    coded = column.coded(np.array([column.cell(cell) for cell in cells]))
    assert coded.shape == (10, 2)
    np.testing.assert_allclose(coded.mean(axis=0), 0, atol=1e-15)


def test_text_is_numbers_if_every_cell_is_one():
    column = fitted(["1", "2.5"], ["4"], decimal=".")
    assert (column.name, column.mean) == ("x", 2.5)
    assert column.std == pytest.approx(np.std([1, 2.5, 4]))
    assert fitted(["1", "2"], ["n/a", "1"], decimal=".").values == ("1", "2", "n/a")
    assert fitted(["1", "2", "1"]).values == ("1", "2")  # of a frame, text is text


@pytest.mark.parametrize(
    ("batches", "decimal", "message"),
    [
        ([[3, 3], [3]], None, r"context must vary, got 3.0 in every row of column 'x'"),
        ([["a", "a"]], None, r"context must vary, got 'a' in every row of column 'x'"),
        ([[1.0, None]], None, r"context must not be missing, got None in column 'x' at row 1"),
        ([[1.0], [float("inf")]], None, r"context must be finite .* in column 'x' at row 1"),
        ([[[1], [2]]], None, r"context must be a number, text or a boolean, got \[1\]"),
        (
            [[f"v{i}" for i in range(MOST_VALUES)], ["v0", "one more"]],
            None,
            r"at most 50 different values, got 'one more' in column 'x' at row 51",
        ),
        (
            [[str(i) for i in range(60)], ["7", "n/a"]],
            ".",
            r"context must be a number, or text .*, got 'n/a' in column 'x' at row 61",
        ),
    ],
)
def test_columns_of_no_use_are_refused(batches, decimal, message):
    with pytest.raises(ValueError, match=message):
        fitted(*batches, decimal=decimal)
